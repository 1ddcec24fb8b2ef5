import { beforeEach, expect, it } from 'vitest';
import { compact } from './compacting.ts';
import { type HeldState, isCopied, newHeld } from './held-state.ts';
import { bytesPerToken, readState, copyRows, StateBuilder, type StateLayout } from './state-layout.ts';

const LAYOUT: StateLayout = { magic: 5, streams: 1, transposed: false, keys: [[1, 512]], values: [[1, 512]] };
const EACH = bytesPerToken(LAYOUT);
const TOKENS = 100;

let pauses: number;
const pause = async (): Promise<void> => void (pauses += 1);

beforeEach(() => {
  pauses = 0;
});

/** The first rows of a state of its own; each tells its token. */
function rows(used: number, tokens = TOKENS): HeldState {
  let row = 0;
  const builder = new StateBuilder(LAYOUT, { start: 0, tokens });
  builder.add({ start: 0, held: tokens, used: tokens }, (bytes) => {
    const all = Buffer.alloc(bytes);
    for (let at = 0; at < bytes; at += 512, row += 1) all.writeUInt32LE(row % tokens, at);
    return all;
  });
  const state = readState(builder.bytes, tokens);
  if (state === null) throw new Error('the state does not read');
  const ram = { state, start: 0, end: used };
  return newHeld({ owner: '', savesMs: 1, layout: LAYOUT, bytes: used * EACH, ram, file: null });
}

async function copied(held: readonly HeldState[], limitTokens: number, all = false): Promise<boolean[]> {
  await compact(held, { limitBytes: limitTokens * EACH, all }, pause);
  return held.map(({ ram }) => ram !== null && isCopied(ram));
}

it('copies out of what is mostly waste, and all when it is told', async () => {
  const held = [rows(40), rows(60), rows(100)];
  expect(await copied(held, 1_000)).toEqual([true, false, false]);
  expect(await copied(held, 1_000, true)).toEqual([true, true, true]);
});

it('copies what wastes most until no more is held than may be', async () => {
  const held = [rows(80), rows(60), rows(70)];
  expect(await copied(held, 280)).toEqual([false, true, false]);
  expect(await copied(held, 240)).toEqual([false, true, true]);
  expect(await copied(held, 210)).toEqual([true, true, true]);
});

it('copies no state of which hardly anything is waste', async () => {
  expect(await copied([rows(99)], 1)).toEqual([false]);
});

it('copies the rows of each token, wherever they lie', async () => {
  const inOrder = rows(40);
  if (inOrder.ram === null || isCopied(inOrder.ram)) throw new Error('it is a slice');
  const cellByToken = Int32Array.from({ length: TOKENS }, (_, token) => TOKENS - 1 - token);
  const state = { ...inOrder.ram.state, cellByToken };
  const held: HeldState = { ...inOrder, ram: { ...inOrder.ram, state } };
  expect(await copied([held], 1_000)).toEqual([true]);
  const bytes = Buffer.from(held.ram as Uint8Array);
  // Byte by byte in one go: a matcher takes a second.
  expect(Buffer.compare(bytes, copyRows(state, 0, 40))).toBe(0);
  expect(bytes.readUInt32LE(0)).toBe(TOKENS - 1);
});

it('leaves rows alone that are given up meanwhile', async () => {
  const held = rows(40);
  await compact([held], { limitBytes: 0, all: true }, async () => void (held.ram = null));
  expect(held.ram).toBeNull();
});

it('pauses after each megabyte', async () => {
  await copied([rows(3 * 1024, 8 * 1024)], 0);
  expect(pauses).toBe(2);
});
