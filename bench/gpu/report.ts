/** What was measured so far, as JSON and as tables: both files are whole after every step, also when the next one is cut. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rounded } from '../statistics.ts';

export type Cells = Readonly<Record<string, string | number | boolean | null>>;

export interface StepResult {
  readonly step: string;
  readonly seconds: number;
  readonly rows: readonly Cells[];
  readonly error?: string;
  /** Anything longer than a cell. */
  readonly notes?: Readonly<Record<string, unknown>>;
}

export class Report {
  readonly #folder: string;
  readonly #results: StepResult[] = [];

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  add(result: StepResult): void {
    this.#results.push(result);
    console.log(markdownOf(result));
    writeFileSync(path.join(this.#folder, 'results.json'), `${JSON.stringify(this.#results, null, 1)}\n`);
    writeFileSync(path.join(this.#folder, 'results.md'), this.#results.map(markdownOf).join('\n'));
  }
}

export function markdownOf({ step, seconds, rows, error, notes }: StepResult): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const table =
    rows.length === 0
      ? []
      : [
          line(columns),
          line(columns.map(() => '---')),
          ...rows.map((row) => line(columns.map((name) => shown(row[name])))),
        ];
  const failed = error === undefined ? [] : [`failed: ${error}`];
  const further = Object.entries(notes ?? {}).map(([name, value]) => fenced(name, value));
  return [`## ${step} (${seconds.toFixed(1)} s)`, '', ...table, ...failed, ...further, ''].join('\n');
}

function shown(value: Cells[string] | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'number' ? String(rounded(value)) : String(value).replaceAll(/\s*\n\s*/g, ' ');
}

function fenced(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  return `\n${name}:\n\`\`\`\n${text}\n\`\`\``;
}
