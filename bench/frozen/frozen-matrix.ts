/**
 * The matrix behind every claim of exactness: model kinds and quantisations × threads × prompt lengths. Each cell runs
 * the same frozen request again and again, among other requests, and counts distinct outputs; then thread counts are
 * compared with each other, which no record may rely on, but which tells how near two machines can come.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { writeTinyRecurrent, writeTinySlidingWindow } from '../../tools/models/tiny-variants.ts';
import { serve } from '../served.ts';
import { text } from '../words.ts';

interface Cell {
  readonly outputs: ReadonlySet<string>;
  readonly tokens: ReadonlySet<string>;
  readonly runs: number;
}

export async function frozenMatrix(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      files: { type: 'string', default: '' },
      threads: { type: 'string', default: '1,2' },
      words: { type: 'string', default: '20,300' },
      repeats: { type: 'string', default: '5' },
      tokens: { type: 'string', default: '24' },
    },
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-bench-matrix-'));
  const files = new Map(
    values.files
      .split(',')
      .filter((file) => file !== '')
      .map((file) => [path.basename(file, '.gguf').toLowerCase(), file]),
  );
  if (files.size === 0) await writeVariants(folder, files);
  const table = new Map<string, Map<string, Cell>>();
  for (const threads of values.threads.split(',')) {
    const home = path.join(folder, `home-${threads}`);
    const env = { SVC_HOME: home, SVC_NUM_THREADS: threads, SVC_NUM_CTX: '4096' };
    for (const [id, file] of files) {
      execFileSync(process.execPath, [path.resolve('bin', 'hearth.js'), 'import', file, '--id', id], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    }
    const served = await serve(18_762, env);
    try {
      for (const id of files.keys()) {
        for (const words of values.words.split(',')) {
          const name = `${id}, ${words} words`;
          const sizes = {
            words: Number(words),
            maxTokens: Number(values.tokens),
            repeats: Number(values.repeats),
          };
          const row = table.get(name) ?? new Map<string, Cell>();
          row.set(threads, await cell(served.url, id, sizes));
          table.set(name, row);
        }
      }
    } finally {
      await served.close();
    }
  }
  for (const [name, row] of table) console.log(describe(name, row));
  rmSync(folder, { recursive: true, force: true });
}

async function writeVariants(folder: string, files: Map<string, string>): Promise<void> {
  const variants = {
    dense: writeTinyChat,
    'sliding-window': writeTinySlidingWindow,
    recurrent: writeTinyRecurrent,
  };
  for (const [id, write] of Object.entries(variants)) {
    const file = path.join(folder, `${id}.gguf`);
    await write(file, { contextLength: 4096 });
    files.set(id, file);
  }
}

async function cell(
  url: string,
  model: string,
  {
    words,
    maxTokens,
    repeats,
  }: { readonly words: number; readonly maxTokens: number; readonly repeats: number },
): Promise<Cell> {
  const outputs = new Set<string>();
  const tokens = new Set<string>();
  const ask = async (seed: number, isFrozen: boolean): Promise<void> => {
    // The word keeps the generated models talking; to others it is a word.
    const content = `${text(words, seed)} forever`;
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(isFrozen ? { 'x-svc-evidence-mode': 'frozen-v1' } : {}),
      },
      body: JSON.stringify({ model, messages: [{ role: 'user', content }], max_tokens: maxTokens }),
    });
    const body = (await response.json()) as { evidence?: { payload: string } };
    if (!response.ok) throw new Error(`${model}: ${JSON.stringify(body)}`);
    if (body.evidence === undefined || seed !== 1) return;
    const { output } = (
      JSON.parse(Buffer.from(body.evidence.payload, 'base64').toString()) as {
        predicate: { output: { tokens_sha256: string; trace_sha256: string } };
      }
    ).predicate;
    outputs.add(output.trace_sha256);
    tokens.add(output.tokens_sha256);
  };
  for (let run = 0; run < repeats; run += 1) {
    await ask(1, true);
    await Promise.all([ask(1, true), ask(run + 2, false), ask(run + 50, true)]);
  }
  return { outputs, tokens, runs: 2 * repeats };
}

function describe(name: string, row: ReadonlyMap<string, Cell>): string {
  const cells = [...row].map(
    ([threads, { outputs, runs }]) => `${threads} threads: ${outputs.size} output in ${runs} runs`,
  );
  const across = (pick: (one: Cell) => ReadonlySet<string>): number =>
    new Set([...row.values()].flatMap((one) => [...pick(one)])).size;
  const logits = across(({ outputs }) => outputs) === 1 ? 'equal logits' : 'other logits';
  const tokens = across(({ tokens: ids }) => ids) === 1 ? 'equal tokens' : 'other tokens';
  return `${name}: ${cells.join('; ')}; across thread counts ${tokens}, ${logits}`;
}
