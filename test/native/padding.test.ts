/** Rows behind a row that bring a call to a cheaper size: nothing of them may be seen, and nothing may stay. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { evaluateRows } from '../../src/worker/batch/evaluate.ts';
import type { Row } from '../../src/worker/batch/stream/row.ts';
import { chatContext } from '../../src/worker/load/chat.ts';
import { loadOptions } from '../../src/worker/load/load-options.ts';
import type { NativeBackend, NativeContext } from '../../src/worker/native.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { loadSpec } from '../support/engine/jobs.ts';

const PROMPT = Uint32Array.from({ length: 40 }, (_, i) => 260 + i);
const ANSWER = [300, 301, 302, 303];

let folder: string;
let backend: NativeBackend;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-padding-'));
  await writeTinyChat(join(folder, 'tiny.gguf'));
  // Once per process.
  backend = await bootNative('off');
});

afterAll(() => rm(folder, { recursive: true }));

async function open(unified: boolean): Promise<NativeContext> {
  const options = loadOptions(backend, loadSpec());
  const model = await backend.openModel(join(folder, 'tiny.gguf'), options, () => undefined);
  return await model.newContext(
    chatContext(options, { cells: 256, sequences: 2, threads: 1, unified, draftTokens: 0 }),
  );
}

/** The largest logits of each row, in one call. */
function evaluated(context: NativeContext, rows: readonly Row[]): number[][] {
  const found: number[][] = [];
  evaluateRows(context, rows, {
    onResult: (_, result) => {
      if ('error' in result) throw result.error;
      for (const row of result.logitRows) found.push(largest(context, row));
    },
  });
  return found;
}

const largest = (context: NativeContext, row: number): number[] =>
  context.readLogits(row, { tokens: [], largest: 5 }).of.flatMap(({ token, logit }) => [token, logit]);

/** Two sequences answer side by side, the second one with so many rows of padding behind each token. */
async function answeredWith(padding: number, unified: boolean): Promise<number[][]> {
  const context = await open(unified);
  const calls = vi.spyOn(context, 'decodeBatch');
  const prompts = [0, 1].map((sequence) => ({ sequence, position: 0, tokens: PROMPT, logits: 1 }));
  const found = evaluated(context, prompts);
  for (const [i, token] of ANSWER.entries()) {
    const row = { position: PROMPT.length + i, tokens: Uint32Array.of(token), logits: 1 };
    found.push(
      ...evaluated(context, [
        { ...row, sequence: 0 },
        { ...row, sequence: 1, padding },
      ]),
    );
  }
  // A call on top of padding that stayed would be refused, and its rows evaluated one by one.
  expect(calls).toHaveBeenCalledTimes(1 + ANSWER.length);
  context.dispose();
  return found;
}

describe.each([
  ['shared KV cells', true],
  ['a window for each sequence', false],
] as const)('padding, with %s', (_, unified) => {
  it('changes no logit beyond the last digits, of its call and of those after it', async () => {
    const [padded, plain] = [await answeredWith(2, unified), await answeredWith(0, unified)];
    expect(padded).toHaveLength(2 * (1 + ANSWER.length));
    for (const [i, logits] of padded.entries())
      for (const [at, value] of logits.entries()) expect(value).toBeCloseTo(plain[i]?.[at] ?? Number.NaN, 2);
  });
});
