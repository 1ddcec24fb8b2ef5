import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/base/deferred.ts';
import { PromptStore } from '../../cache/prompt-store.ts';
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
let tiers: Tiers;

beforeEach(() => {
  nowMs = 0;
  copyMs = 1;
  copies = 0;
  lefts = 0;
  msPerToken = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const context: Partial<NativeContext> = {
    sequenceBytes: () => SEQUENCE_BYTES,
    saveSequence: () => {
      copies += 1;
      nowMs += copyMs;
      return new Uint8Array(STATE_BYTES);
    },
  };
  tiers = new Tiers({
    context: context as NativeContext,
    spec: { ramBytes: 2 * SEQUENCE_BYTES, disk: null },
    cuttable: false,
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
