import { describe, expect, it } from 'vitest';
import { perSecond, quantile, spread } from './statistics.ts';

const hundredOne = Array.from({ length: 101 }, (_, at) => 100 - at);

describe('quantile', () => {
  it('takes the sample at that share, in any order', () => {
    expect([0, 0.5, 0.95, 0.99, 1].map((share) => quantile(hundredOne, share))).toEqual([0, 50, 95, 99, 100]);
  });

  it('lies between two samples where none is there', () => {
    expect(quantile([10, 20], 0.25)).toBe(12.5);
    expect(quantile([7], 0.99)).toBe(7);
  });

  it('refuses to speak of no samples', () => {
    expect(() => quantile([], 0.5)).toThrow('no samples');
  });
});

describe('spread', () => {
  it('names the middle, the tails and the longest', () => {
    expect(spread('gap', 'ms', hundredOne)).toEqual({
      'gap p50 ms': 50,
      'gap p95 ms': 95,
      'gap p99 ms': 99,
      'gap max ms': 100,
    });
  });

  it('says nothing of no samples', () => {
    expect(spread('gap', 'ms', [])).toEqual({});
  });
});

describe('perSecond', () => {
  it('takes milliseconds', () => {
    expect(perSecond(30, 500)).toBe(60);
  });
});
