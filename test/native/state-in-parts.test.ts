/** State that comes back part by part beside what other sequences hold. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MOST_SEQUENCES } from '../../src/contract/limits.ts';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { evaluateRows } from '../../src/worker/batch/evaluate.ts';
import { CostModel } from '../../src/worker/batch/planning/cost-model.ts';
import { Sequences } from '../../src/worker/batch/sequences/sequences.ts';
import { PromptStore } from '../../src/worker/cache/prompt-store.ts';
import { chatContext } from '../../src/worker/load/chat.ts';
import { loadOptions } from '../../src/worker/load/load-options.ts';
import type { ChatModel } from '../../src/worker/model.ts';
import type { NativeBackend, NativeContext, NativeModel } from '../../src/worker/native.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { loadSpec } from '../support/engine/jobs.ts';

const CELLS = 512;
/** Of two parts. */
const LONG = Uint32Array.from({ length: 200 }, (_, i) => 260 + (i % 40));
const SHORT = Uint32Array.from({ length: 20 }, (_, i) => 280 + i);

let folder: string;
let backend: NativeBackend;
let model: NativeModel;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-parts-'));
  const path = join(folder, 'tiny.gguf');
  await writeTinyChat(path);
  backend = await bootNative('off');
  model = await backend.openModel(path, loadOptions(backend, loadSpec()), () => undefined);
});

afterAll(() => rm(folder, { recursive: true }));

/** The most probable tokens behind these. */
function next(context: NativeContext, sequence: number, position: number, tokens: Uint32Array): number[] {
  let found: number[] = [];
  evaluateRows(context, [{ sequence, position, tokens, logits: 1 }], {
    onResult: (_, result) => {
      if ('error' in result) throw result.error;
      const { of } = context.readLogits(result.logitRows[0] ?? 0, { tokens: [], largest: 5 });
      found = of.map(({ token }) => token);
    },
  });
  return found;
}

it.each([3, MOST_SEQUENCES])('of %i sequences changes no other one, not even the last', async (sequences) => {
  const options = loadOptions(backend, loadSpec());
  const size = { cells: CELLS, sequences, threads: 1, unified: true, draftTokens: 0 };
  const context = await model.newContext(chatContext(options, size));
  const chat = { context, prefixReuse: 'full', sharedCells: CELLS, facts: { sequences, contextBytes: 1 } };
  const slots = new Sequences(chat as ChatModel, new CostModel());
  const store = new PromptStore({
    spec: { ramBytes: 2 ** 24, disk: null },
    streams: 1,
    msPerToken: () => 1,
    log: () => undefined,
  });
  const last = sequences - 1;
  for (const [slot, tokens] of [
    [0, LONG],
    [last, SHORT],
  ] as const) {
    next(context, slot, 0, tokens);
    slots.append(slot, tokens);
  }
  store.keep('', LONG, context.saveSequence(0) ?? new Uint8Array(), true);
  slots.reserve(1, '');
  const read = await store.read(store.find('', LONG), async () => undefined, slots.takerFor(1, LONG));
  expect(read).toEqual({ ramTokens: LONG.length, diskTokens: 0, refusal: null });
  expect(context.firstPosition(last)).toBe(0);
  const one = Uint32Array.of(300);
  expect(next(context, 1, LONG.length, one)).toEqual(next(context, 0, LONG.length, one));
  context.dispose();
});
