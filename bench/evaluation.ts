/**
 * `hearth eval` as a user runs it: how long until it names each seeded defect of a model, how long a whole run takes, and
 * how often it finds something wrong with an unchanged copy.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { flipped, openDefects, type Opened, rebuilt, withoutWords } from '../test/support/gguf-defects.ts';
import { removeFolder } from '../test/support/remove-folder.ts';
import { f32, text } from '../tools/gguf/metadata.ts';
import { median } from './statistics.ts';

const HEARTH = path.resolve('bin', 'hearth.js');
const SECOND_MS = 1000;

export async function evaluation(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      model: { type: 'string', default: 'models/hearth-mini/model.gguf' },
      coarse: { type: 'string' },
      only: { type: 'string', default: '' },
      unchanged: { type: 'string', default: '20' },
    },
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-bench-eval-'));
  const cli = new Cli(path.join(folder, 'home'));
  const isNamed = (name: string): boolean => values.only === '' || values.only.split(',').includes(name);
  try {
    cli.import(values.model, 'good');
    const file = await openDefects(values.model, readFileSync(values.model));
    const defects = { ...seeds(file), ...coarse(values.coarse) };
    for (const [name, seed] of Object.entries(defects).filter(([each]) => isNamed(each))) {
      const source = path.join(folder, 'bad.gguf');
      writeFileSync(source, seed());
      cli.import(source, name);
      const { found, foundMs, allMs } = await cli.evaluate(name, '--against', 'good');
      console.log(
        `${name}: named after ${seconds(foundMs)}, whole run ${seconds(allMs)}: ${found ?? 'NOT FOUND'}`,
      );
      cli.run('rm', name);
    }
    if (isNamed('whole'))
      console.log(`a whole run without a reference: ${seconds((await cli.evaluate('good')).allMs)}`);
    if (isNamed('unchanged')) await unchanged(cli, values.model, Number(values.unchanged));
  } finally {
    await removeFolder(folder);
  }
}

async function unchanged(cli: Cli, model: string, runs: number): Promise<void> {
  cli.import(model, 'copy');
  const times: number[] = [];
  let alarms = 0;
  for (let run = 0; run < runs; run += 1) {
    const { found, allMs } = await cli.evaluate('copy', '--against', 'good', '--texts-only');
    times.push(allMs);
    if (found !== null) alarms += 1;
  }
  console.log(`unchanged: ${alarms} false alarms in ${runs} runs, median ${seconds(median(times))} a run`);
}

const LAYER = 'blk.1.ffn_down.weight';

function seeds(file: Opened): Record<string, () => Buffer> {
  const architecture =
    [...file.values.keys()].find((key) => key.endsWith('.block_count'))?.split('.')[0] ?? 'llama';
  const values = (changed: Parameters<typeof rebuilt>[1]['values']) => () =>
    rebuilt(file, changed === undefined ? {} : { values: changed });
  return {
    tensor: () => flipped(file, LAYER),
    rope: values({ [`${architecture}.rope.freq_base`]: f32(500) }),
    template: values({ 'tokenizer.chat_template': text('{{ messages[0].content }}') }),
    vocabulary: () => withoutWords(file.bytes, 300),
  };
}

const coarse = (file: string | undefined): Record<string, () => Buffer> =>
  file === undefined ? {} : { coarse: () => readFileSync(file) };

const seconds = (ms: number): string => (Number.isFinite(ms) ? `${Math.round(ms / SECOND_MS)} s` : 'never');

interface Run {
  readonly found: string | null;
  readonly foundMs: number;
  readonly allMs: number;
}

class Cli {
  readonly #env: NodeJS.ProcessEnv;

  constructor(home: string) {
    this.#env = { ...process.env, SVC_HOME: home };
  }

  run(...args: readonly string[]): void {
    execFileSync(process.execPath, [HEARTH, ...args], {
      env: this.#env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  import(file: string, id: string): void {
    this.run('import', file, '--id', id);
  }

  /** When the first fault was told, and when the command ended. */
  async evaluate(...args: readonly string[]): Promise<Run> {
    const start = performance.now();
    const child = spawn(process.execPath, [HEARTH, 'eval', ...args], {
      env: this.#env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let found: string | null = null;
    let foundMs = Number.POSITIVE_INFINITY;
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line);
      if (found !== null || !line.includes(' is wrong: ')) continue;
      found = line;
      foundMs = performance.now() - start;
    }
    const code = child.exitCode ?? (await new Promise((ended) => child.once('exit', ended)));
    if (code !== 0 && found === null) throw new Error(`hearth eval ended with ${code}: ${lines.at(-1)}`);
    return { found, foundMs, allMs: performance.now() - start };
  }
}
