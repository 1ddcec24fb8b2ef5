import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lookup, MOST_TOKENS } from './lookup.ts';

const after = (prompt: readonly number[], said: readonly number[] = []): Lookup => {
  const lookup = new Lookup(Uint32Array.from(prompt));
  for (const token of said) lookup.said(token);
  return lookup;
};

describe('lookup', () => {
  it('guesses what followed the last three tokens before', () => {
    expect(after([1, 2, 3, 4, 5, 9, 1, 2, 3]).guess(2)).toEqual([4, 5]);
    expect(after([1, 2, 3, 4, 5, 9], [1, 2, 3]).guess(2)).toEqual([4, 5]);
  });

  it('guesses nothing where they are new, or fewer', () => {
    expect(after([1, 2, 3, 4]).guess(5)).toEqual([]);
    expect(after([1, 1]).guess(5)).toEqual([]);
    expect(after([]).guess(5)).toEqual([]);
  });

  it('takes the latest of several places', () => {
    expect(after([1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 3]).guess(1)).toEqual([5]);
  });

  it('stays with a place that was right, where the latest would say otherwise', () => {
    const lookup = after([7, 1, 2, 3, 4, 5, 9, 2, 3, 4, 6, 8, 7, 1, 2]);
    expect(lookup.guess(1)).toEqual([3]);
    for (const token of [3, 4]) lookup.said(token);
    expect(lookup.guess(1)).toEqual([5]);
  });

  it('goes on with a text that repeats itself beyond its end', () => {
    expect(after([8, 1, 2, 1, 2, 1]).guess(5)).toEqual([2, 1, 2, 1, 2]);
    expect(after([4, 4, 4, 4]).guess(3)).toEqual([4, 4, 4]);
  });

  it('counts how often it is right, only where it guessed', () => {
    const lookup = after([1, 2, 3, 4, 5, 6], [1, 2, 3]);
    expect(lookup.hitRate).toBe(0);
    for (const token of [4, 5, 6]) lookup.said(token);
    const right = lookup.hitRate;
    expect(right).toBeGreaterThan(0.4);
    lookup.said(99);
    expect(lookup.hitRate).toBeLessThan(right);
    const low = lookup.hitRate;
    for (const token of [100, 101, 102]) lookup.said(token);
    expect(lookup.hitRate).toBe(low);
  });

  it('looks through the end of a very long prompt only', () => {
    const filler = Array.from({ length: MOST_TOKENS }, (_, i) => 10 + i);
    expect(after([1, 2, 3, 4, ...filler], [1, 2, 3]).guess(1)).toEqual([]);
    expect(after([...filler, 1, 2, 3, 4], [1, 2, 3]).guess(1)).toEqual([4]);
  });

  it('finds a place exactly where a plain search finds one', () => {
    const tokens = fc.array(fc.nat({ max: 3 }), { maxLength: 40 });
    fc.assert(
      fc.property(tokens, tokens, (prompt, said) => {
        const all = [...prompt, ...said];
        const recurs = all.some(
          (_, at) =>
            at + 3 < all.length &&
            all.length >= 3 &&
            [0, 1, 2].every((i) => all[at + i] === all[all.length - 3 + i]),
        );
        const guess = after(prompt, said).guess(4);
        // A place that was right is kept, and it was found in the same way once.
        expect(guess.length).toBe(recurs || guess.length > 0 ? 4 : 0);
        if (recurs) expect(guess.length).toBe(4);
        if (guess.length > 0) expect(all).toContain(guess[0]);
      }),
      { numRuns: 500 },
    );
  });
});
