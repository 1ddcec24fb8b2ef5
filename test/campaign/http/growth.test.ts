import { describe, expect, it } from 'vitest';
import { growthOf } from './growth.ts';

/** Rounds of half a minute. */
const course = (rounds: number, mebibytesAt: (round: number) => number) =>
  Array.from({ length: rounds }, (_, round) => ({ mebibytes: mebibytesAt(round), minutes: 0.5 }));

describe('the growth of memory', () => {
  it('is the slope of the second half, whatever the first did', () => {
    expect(growthOf(course(40, (round) => Math.min(round, 20) * 50))?.perMinute).toBe(0);
    expect(growthOf(course(40, (round) => 100 + round))?.perMinute).toBe(2);
    expect(growthOf(course(40, (round) => 100 + round + (round % 2) * 3))?.perMinute).toBeCloseTo(2, 0);
  });

  it('is no garbage that waits for a collection, however short the rounds are', () => {
    // Rounds of a second; each minute and a quarter, 70 MiB are collected.
    const rounds = (slope: number) =>
      Array.from({ length: 1_500 }, (_, at) => ({
        mebibytes: 200 + ((at % 75) / 75) * 70 + (slope * at) / 60,
        minutes: 1 / 60,
      }));
    expect(Math.abs(growthOf(rounds(0))?.perMinute ?? Infinity)).toBeLessThan(1);
    expect(growthOf(rounds(3))?.perMinute).toBeGreaterThan(2);
  });

  it('is not made smaller by a round during which the machine stood still', () => {
    const rounds = course(40, (round) => 100 + round);
    rounds[30] = { mebibytes: 130, minutes: 100 };
    expect(growthOf(rounds)?.perMinute).toBe(2);
  });

  it('is not told of a few rounds', () => {
    expect(growthOf(course(12, (round) => 100 + round))).toBeNull();
  });
});
