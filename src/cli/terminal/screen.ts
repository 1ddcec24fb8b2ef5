/**
 * Output of a conversation: answers on stdout, all else on stderr, so that a redirected answer is only the answer.
 * Only terminals get styles and status lines.
 */
import { printable, printableText } from '../context.ts';
import { MarkdownStyler } from '../conversation/markdown.ts';

interface Sheet {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
  hasColors?(): boolean;
}

export interface ScreenOptions {
  readonly out: Sheet;
  readonly err: Sheet;
  readonly showsStatus: boolean;
}

const DIM = '\u001b[2m';
const PLAIN = '\u001b[0m';
const ERASE_LINE = '\r\u001b[K';

export class Screen {
  readonly #out: Sheet;
  readonly #err: Sheet;
  readonly #showsStatus: boolean;
  #styler: MarkdownStyler | null = null;
  #hasStatus = false;
  #inReasoning = false;
  #inAnswer = false;

  constructor({ out, err, showsStatus }: ScreenOptions) {
    this.#out = out;
    this.#err = err;
    this.#showsStatus = showsStatus && err.isTTY === true;
  }

  status(text: string | null): void {
    if (!this.#showsStatus || this.#inAnswer || this.#inReasoning) return;
    this.#eraseStatus();
    if (text === null) return;
    // Exactly one row, so that it can be removed.
    const row = printable(text).slice(0, Math.max(10, (this.#err.columns || 80) - 2));
    this.#err.write(this.#dimmed(`${row}…`));
    this.#hasStatus = true;
  }

  reasoning(text: string): void {
    if (this.#err.isTTY !== true) return;
    this.#eraseStatus();
    this.#inReasoning = true;
    this.#err.write(this.#dimmed(printableText(text)));
  }

  answer(text: string): void {
    this.#eraseStatus();
    this.#endReasoning();
    if (!this.#inAnswer)
      this.#styler = this.#out.isTTY === true && hasStyles(this.#out) ? new MarkdownStyler() : null;
    this.#inAnswer = true;
    // Output of a model is untrusted.
    const safe = printableText(text);
    this.#out.write(this.#styler?.feed(safe) ?? safe);
  }

  closeAnswer(): void {
    this.#eraseStatus();
    this.#endReasoning();
    if (this.#inAnswer) this.#out.write(`${this.#styler?.end() ?? ''}\n`);
    this.#inAnswer = false;
  }

  say(text: string): void {
    this.#eraseStatus();
    const safe = printableText(text);
    const { isTTY } = this.#err;
    // A terminal of unknown width reports 0.
    const columns = this.#err.columns || 80;
    // Keeps the last column free: some terminals break a line that fills the row.
    this.#err.write(`${this.#dimmed(isTTY === true ? wrapWords(safe, columns - 1) : safe)}\n`);
  }

  #endReasoning(): void {
    if (this.#inReasoning) this.#err.write('\n\n');
    this.#inReasoning = false;
  }

  #eraseStatus(): void {
    if (this.#hasStatus) this.#err.write(ERASE_LINE);
    this.#hasStatus = false;
  }

  #dimmed(text: string): string {
    return this.#err.isTTY === true && hasStyles(this.#err) ? `${DIM}${text}${PLAIN}` : text;
  }
}

const hasStyles = (sheet: Sheet): boolean => sheet.hasColors?.() ?? false;

/**
 * Breaks lines between words. A continuation is indented to the last column of a table, if the line has one (after
 * two spaces or more). A word that is too long stays whole.
 */
export function wrapWords(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const [lead = ''] = /^\s*\S.*? {2,}(?=\S)/.exec(line) ?? [];
  const indent = lead.length < columns / 2 ? lead.length : 0;
  const rows: string[] = [];
  let row = line.slice(0, indent);
  for (const word of line.slice(indent).split(' ')) {
    const isFirst = row.length === indent;
    if (!isFirst && row.length + 1 + word.length > columns) {
      rows.push(row);
      row = ' '.repeat(indent) + word;
    } else {
      row += isFirst ? word : ` ${word}`;
    }
  }
  return [...rows, row].join('\n');
}
