import { describe, expect, it } from 'vitest';
import { estimateAt } from './memory-record.ts';

const knotsOf = (truth: (at: number) => number, at: readonly number[]) =>
  at.map((each) => ({ at: each, bytes: truth(each) }));
const places = [512, 2_048, 4_096, 8_192, 16_384];

describe('what lies between measured sizes', () => {
  it('is exact on a line, also above the last, and the first below', () => {
    const truth = (cells: number) => 1_000 + 3 * cells;
    const knots = knotsOf(truth, places);
    expect(estimateAt(8, knots)).toBe(truth(512));
    for (const cells of [512, 700, 3_000, 16_384, 100_000])
      expect(estimateAt(cells, knots)).toBeCloseTo(truth(cells));
  });

  it('is exact where a sliding window stops growing', () => {
    const truth = (cells: number) => 10 * Math.min(cells, 5_000) + cells;
    const knots = knotsOf(truth, places);
    for (const cells of [4_500, 5_000, 7_000]) expect(estimateAt(cells, knots)).toBeCloseTo(truth(cells));
  });

  it('never promises less than is needed where growth only slows down', () => {
    const truth = (cells: number) => 10 * Math.min(cells, 1_100) + 7 * Math.min(cells, 9_000) + cells;
    const knots = knotsOf(truth, places);
    for (let cells = 100; cells < 40_000; cells += 97)
      expect(estimateAt(cells, knots)).toBeGreaterThanOrEqual(truth(cells) - 1e-6);
  });

  it('is the only measured value where there is one', () => {
    expect(estimateAt(7, [{ at: 3, bytes: 5 }])).toBe(5);
  });
});
