import fc from 'fast-check';
import { expect, it } from 'vitest';
import { drainingError } from './admission.ts';
import { initialState } from './state.ts';

const retryAfterS = (leftMs: number): unknown =>
  drainingError({ ...initialState(), drainUntilMs: 5_000 + leftMs }, 5_000).detail;

it.each([
  [20_000, 20],
  [1_500, 2],
  [0, 1],
  [Infinity, 60],
])('tells a client to come back after the rest of the drain: %d ms', (leftMs, seconds) => {
  expect(retryAfterS(leftMs)).toEqual({ retryAfterS: seconds });
});

it('never names less than a second or more than a minute, nor less than what is left of a shorter drain', () => {
  fc.assert(
    fc.property(fc.double({ min: -1e9, max: 1e9, noNaN: true }), (leftMs) => {
      const { retryAfterS: seconds } = retryAfterS(leftMs) as { retryAfterS: number };
      expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60).toBe(true);
      if (leftMs <= 60_000) expect(seconds * 1_000).toBeGreaterThanOrEqual(leftMs);
    }),
  );
});
