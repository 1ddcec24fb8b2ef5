/** Attention that is computed another way while sequences hold state: all of it comes along. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bootNative } from '../../src/worker/addon/boot.ts';
import { evaluateRows } from '../../src/worker/batch/evaluate.ts';
import { CostModel } from '../../src/worker/batch/planning/cost-model.ts';
import { Sequences } from '../../src/worker/batch/sequences/sequences.ts';
import { type Restored, Tiers } from '../../src/worker/batch/tiers/tiers.ts';
import { keptState } from '../../src/worker/cache/kept-state.ts';
import { chatContext } from '../../src/worker/load/chat.ts';
import { loadOptions } from '../../src/worker/load/load-options.ts';
import type { ChatModel } from '../../src/worker/model.ts';
import type { NativeBackend, NativeContext, NativeModel, TokenLogit } from '../../src/worker/native.ts';
import { writeTinyChat } from '../../tools/models/tiny-chat.ts';
import { writeTinyLora } from '../../tools/models/tiny-lora.ts';
import { loadSpec } from '../support/engine/jobs.ts';

const FLASH = { flashAttention: true, microBatchTokens: null };
const PLAIN = { flashAttention: false, microBatchTokens: 32 };
const SEQUENCES = 3;
const CELLS = 1_024;
const long = Uint32Array.from({ length: 200 }, (_, i) => 260 + (i % 40));
const short = Uint32Array.from({ length: 33 }, (_, i) => 270 + i);
const ONE = Uint32Array.of(300);

let folder: string;
let backend: NativeBackend;
let model: NativeModel;
let context: NativeContext;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hearth-attention-'));
  const path = join(folder, 'tiny.gguf');
  await writeTinyChat(path);
  backend = await bootNative('off');
  model = await backend.openModel(path, loadOptions(backend, loadSpec()), () => undefined);
});

afterAll(() => rm(folder, { recursive: true }));

afterEach(() => context.dispose());

interface Held {
  readonly slots: Sequences;
  readonly tiers: Tiers;
}

/** Sequences that hold nothing, of a context with shared cells or a window for each. */
async function open(unified: boolean): Promise<Held> {
  const size = { cells: CELLS, sequences: SEQUENCES, threads: 1, unified, draftTokens: 0 };
  const options = chatContext(loadOptions(backend, loadSpec()), size);
  context = await model.newContext({ ...options, numCtx: unified ? CELLS : 256 });
  const facts = { sequences: SEQUENCES, contextBytes: 1 };
  const chat = { context, prefixReuse: 'full', sharedCells: unified ? CELLS : null, facts };
  const tiers = new Tiers({
    context,
    spec: { ramBytes: 2 ** 24, disk: null },
    cuttable: true,
    kept: keptState(context, true),
    streams: unified ? 1 : SEQUENCES,
    msPerToken: () => 1_000,
    tell: () => undefined,
  });
  return { slots: new Sequences(chat as ChatModel, new CostModel(), tiers), tiers };
}

function read({ slots }: Pick<Held, 'slots'>, sequence: number, tokens: Uint32Array): void {
  next(sequence, 0, tokens);
  slots.append(sequence, tokens);
}

/** Brings what the tiers hold of a prompt into sequence 1. */
async function restored({ slots, tiers }: Held, prompt: Uint32Array): Promise<Restored> {
  const wanted = tiers.beyond('', prompt, 0);
  if (wanted === null || wanted === 'not_worth') throw new Error('nothing was kept');
  slots.reserve(1, '');
  return tiers.restore(wanted, slots.takerFor(1, prompt));
}

/** The most probable tokens behind these. */
function next(sequence: number, position: number, tokens: Uint32Array): readonly TokenLogit[] {
  let found: readonly TokenLogit[] = [];
  evaluateRows(context, [{ sequence, position, tokens, logits: 1 }], {
    onResult: (_, result) => {
      if ('error' in result) throw result.error;
      found = context.readLogits(result.logitRows[0] ?? 0, { tokens: [], largest: 5 }).of;
    },
  });
  return found;
}

/** Behind what a sequence holds, which stays as it is. */
function behind(sequence: number, held: number): readonly TokenLogit[] {
  const found = next(sequence, held, ONE);
  context.cutSequence(sequence, held);
  return found;
}

function expectAlike(found: readonly TokenLogit[], expected: readonly TokenLogit[]): void {
  expect(found.map(({ token }) => token)).toEqual(expected.map(({ token }) => token));
  for (const [at, { logit }] of found.entries())
    expect(logit).toBeCloseTo(expected[at]?.logit ?? Number.NaN, 1);
}

describe.each([
  ['share their cells', true],
  ['have windows of their own', false],
])('sequences that %s', (_, unified) => {
  let held: Held;

  beforeEach(async () => {
    held = await open(unified);
    read(held, 0, long);
    read(held, 2, short);
  });

  it('go on where they were, there and back', () => {
    const before = [behind(0, long.length), behind(2, short.length)];
    for (const attention of [PLAIN, FLASH, PLAIN]) {
      expect(held.slots.attend(attention)).toEqual([]);
      expect(context.flashAttention).toBe(attention.flashAttention);
      for (const [at, found] of [behind(0, long.length), behind(2, short.length)].entries())
        expectAlike(found, before[at] ?? []);
    }
    expect(context.firstPosition(1)).toBe(-1);
  });

  it('find again what left them before the change, and what left them after it', async () => {
    const prompt = Uint32Array.from([...long, 301, 302]);
    const expected = behind(0, long.length);
    held.tiers.leave({ id: 0, owner: '', tokens: [...long] }, false);
    held.slots.empty(0);
    for (const attention of [PLAIN, FLASH]) {
      held.slots.attend(attention);
      expect(await restored(held, prompt)).toMatchObject({ ramTokens: long.length, refusal: null });
      expectAlike(behind(1, long.length), expected);
      held.slots.giveUp(1);
      held.tiers.leave({ id: 2, owner: '', tokens: [...short] }, false);
      expect(held.tiers.missing({ owner: '', tokens: [...short] })).toBe(0);
    }
    // It left without flash attention, and is wanted with it.
    const expectedShort = behind(2, short.length);
    const again = Uint32Array.from([...short, 301]);
    expect(await restored(held, again)).toMatchObject({ ramTokens: short.length, refusal: null });
    expectAlike(behind(1, short.length), expectedShort);
  });
});

it('keeps adapters and threads', async () => {
  const path = join(folder, 'style.gguf');
  await writeTinyLora(path, { seed: 20 });
  await open(true);
  const behindAll = (): readonly TokenLogit[] => {
    const found = next(0, 0, short);
    context.clearSequence(0);
    return found;
  };
  const plain = behindAll();
  context.setAdapters([{ adapter: await model.openAdapter(path), scale: 1 }]);
  context.setThreads(2);
  const styled = behindAll();
  expect(styled[0]?.logit).not.toBeCloseTo(plain[0]?.logit ?? 0, 1);
  context.reopen(PLAIN);
  expectAlike(behindAll(), styled);
  expect(context.getThreads()).toBe(2);
});

it('knows where state that shares cells would not fit apart', async () => {
  const { slots } = await open(true);
  read({ slots }, 0, long);
  expect(slots.fitsApart).toBe(true);
  const prompt = Uint32Array.from({ length: CELLS - long.length + 1 }, (_, at) => at);
  slots.append(1, prompt.subarray(0, -1));
  expect(slots.fitsApart).toBe(true);
  slots.append(1, prompt.subarray(-1));
  expect(slots.fitsApart).toBe(false);
});
