import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/base/deferred.ts';
import { PromptStore } from '../../cache/prompt-store.ts';
import { rowTokens } from '../../media/rows.ts';
import type { NativeContext } from '../../native.ts';
import { Tiers } from './tiers.ts';

const STATE_BYTES = 2 ** 21;
/** Long enough that a slow copy of it would be felt. */
const SEQUENCE_BYTES = 100_000_000;

let nowMs: number;
let copyMs: number;
let copies: number;
let lefts: number;
let msPerToken: number;
let sequenceBytes: number;
let tiers: Tiers;

beforeEach(() => {
  nowMs = 0;
  copyMs = 1;
  copies = 0;
  lefts = 0;
  msPerToken = 1_000;
  sequenceBytes = SEQUENCE_BYTES;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const context: Partial<NativeContext> = {
    sequenceBytes: () => sequenceBytes,
    saveSequence: () => {
      copies += 1;
      nowMs += copyMs;
      return new Uint8Array(STATE_BYTES);
    },
  };
  tiers = new Tiers({
    context: context as NativeContext,
    spec: { ramBytes: 4 * SEQUENCE_BYTES, disk: null },
    cuttable: false,
    kept: { out: (state) => state, in: (state) => state },
    streams: 1,
    msPerToken: () => msPerToken,
    tell: () => undefined,
  });
});

afterEach(() => vi.restoreAllMocks());

/** A sequence loses a conversation of its own; whether its state was copied. */
function leaves(othersDecode = true): boolean {
  const before = copies;
  lefts += 1;
  tiers.leave({ id: 0, owner: '', tokens: Array.from({ length: 40 }, () => lefts) }, othersDecode);
  return copies > before;
}

it('copies again some time after copies were slow', () => {
  copyMs = 10_000;
  for (let left = 1; leaves(); left += 1) expect(left).toBeLessThan(10);
  copyMs = 1;
  let refused = 1;
  while (!leaves() && refused < 100) refused += 1;
  expect(refused).toBeGreaterThan(1);
  expect(refused).toBeLessThan(30);
});

it('does not take copies that never pay for cheaper by and by', () => {
  copyMs = 10_000;
  for (let left = 0; left < 10; left += 1) leaves(false);
  copyMs = 1;
  msPerToken = 10;
  for (let left = 0; left < 100; left += 1) expect(leaves(false)).toBe(false);
});

describe('idle state in the way of a job', () => {
  const content = { id: 0, owner: '', tokens: Array.from({ length: 40 }, () => 7) };
  const aside = (gainMs: number, othersDecode = false) => tiers.setAside(content, { gainMs, othersDecode });
  /** Two copies at the rate that is believed at first. */
  const TWICE_MS = (2 * SEQUENCE_BYTES) / 1_500_000;

  it('is copied for a gain that pays it and its way back, and once it is there, for half of that', () => {
    expect([aside(0.9 * TWICE_MS), copies]).toEqual([false, 0]);
    // The state that comes is small, so that the rate stays as it was.
    copyMs = STATE_BYTES / 1_500_000;
    expect([aside(1.1 * TWICE_MS), copies]).toEqual([true, 1]);
    expect([aside(0.6 * TWICE_MS), copies]).toEqual([true, 1]);
    expect([aside(0.4 * TWICE_MS), copies]).toEqual([false, 1]);
  });

  it('stays where the gain is not felt, where answers would wait for a long copy, and where memory is short', () => {
    expect(aside(49)).toBe(false);
    sequenceBytes = 3.9 * SEQUENCE_BYTES;
    expect([aside(10_000, true), copies]).toEqual([false, 0]);
    sequenceBytes = 4.1 * SEQUENCE_BYTES;
    expect([aside(10_000), copies]).toEqual([false, 0]);
    sequenceBytes = 3.9 * SEQUENCE_BYTES;
    expect([aside(10_000), copies]).toEqual([true, 1]);
  });
});

it('copies the state behind a prompt for what no tier holds yet, not for the whole conversation', () => {
  copyMs = STATE_BYTES / 1_500_000;
  // A copy is expected to take 67 ms, which is a twentieth of reading 1,333 tokens at a millisecond each.
  msPerToken = 1;
  const upTo = (tokens: number) => ({ id: 0, owner: '', tokens: Array.from({ length: tokens }, () => 7) });
  const copied = [1300, 1400, 1500, 2700, 2800, 2900].filter((tokens) => {
    const before = copies;
    tiers.snapshot(upTo(tokens));
    return copies > before;
  });
  expect(copied).toEqual([1400, 2800]);
});

it('leaves rows where they are that cannot be copied, and goes on', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const compact = vi.spyOn(PromptStore.prototype, 'compact').mockRejectedValueOnce(new Error('no memory'));
  leaves();
  await setImmediate();
  expect(said).toHaveBeenCalledWith(expect.stringContaining('no memory'));
  leaves();
  expect(compact).toHaveBeenCalledTimes(2);
});

it('copies all rows once there is time, even where it is told while it copies some', async () => {
  const first = deferred<void>();
  const compact = vi.spyOn(PromptStore.prototype, 'compact').mockReturnValueOnce(first.promise);
  leaves();
  await tiers.save(
    () => [],
    () => true,
  );
  leaves();
  first.resolve();
  await setImmediate();
  expect(compact.mock.calls.map(([, all]) => all)).toEqual([false, true]);
});

it.each([
  ['none that ends inside of an image', 48, null],
  ['state that ends after an image', 56, expect.objectContaining({ length: 56 })],
])('finds %s', (_, end, found) => {
  const text = Array.from({ length: 40 }, () => 7);
  const prompt = [...text, ...rowTokens({ digest: 'a', rows: 16, positions: 16 }), ...text];
  tiers.leave({ id: 0, owner: '', tokens: prompt.slice(0, end) }, false);
  expect(tiers.beyond('', Uint32Array.from(prompt), 0)).toEqual(found);
});
