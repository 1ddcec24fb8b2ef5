import { describe, expect, it } from 'vitest';
import { normalise } from './vector.ts';

describe('normalise', () => {
  it('scales to length 1 and leaves its input alone', () => {
    const vector = Float64Array.of(3, -4);
    expect(normalise(vector)).toEqual(Float32Array.of(0.6, -0.8));
    expect(vector).toEqual(Float64Array.of(3, -4));
  });

  it('leaves zeros as they are', () => {
    expect(normalise(Float32Array.of(0, 0))).toEqual(Float32Array.of(0, 0));
  });

  it.each([
    ['a number that is none', [1, Number.NaN]],
    ['an infinite number', [1, Number.POSITIVE_INFINITY]],
  ])('refuses %s', (_, values) => {
    expect(() => normalise(Float64Array.from(values))).toThrow('not finite');
  });
});
