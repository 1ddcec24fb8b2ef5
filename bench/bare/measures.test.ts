import { describe, expect, it } from 'vitest';
import { stepsOf } from './measures.ts';

const inputs = [3, 3, 4, 1, 9].map((length) => new Uint32Array(length));
const lengths = (most: number): number[][] =>
  stepsOf(inputs, most, 10).map((step) => step.map(({ length }) => length));

describe('stepsOf', () => {
  it('fills a step up to its rows, in order', () => {
    expect(lengths(64)).toEqual([
      [3, 3, 4],
      [1, 9],
    ]);
  });

  it('puts no more inputs into a step than asked', () => {
    expect(lengths(2)).toEqual([[3, 3], [4, 1], [9]]);
    expect(lengths(1)).toEqual([[3], [3], [4], [1], [9]]);
  });
});
