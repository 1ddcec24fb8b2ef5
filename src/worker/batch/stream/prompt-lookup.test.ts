import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOKUP_LIMITS } from '../planning/tuning.ts';
import { PromptLookup } from './prompt-lookup.ts';

const after = (prompt: readonly number[], answer: readonly number[] = []): PromptLookup => {
  const lookup = new PromptLookup(Uint32Array.from(prompt));
  for (const token of answer) lookup.push(token);
  return lookup;
};

describe('prompt lookup', () => {
  it('drafts what followed the last three tokens earlier', () => {
    expect(after([1, 2, 3, 4, 5, 9, 1, 2, 3]).draft(2)).toEqual([4, 5]);
    expect(after([1, 2, 3, 4, 5, 9], [1, 2, 3]).draft(2)).toEqual([4, 5]);
  });

  it('drafts nothing where they are new, or fewer', () => {
    expect(after([1, 2, 3, 4]).draft(5)).toEqual([]);
    expect(after([1, 1]).draft(5)).toEqual([]);
    expect(after([]).draft(5)).toEqual([]);
  });

  it('takes the latest of several matches', () => {
    expect(after([1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 3]).draft(1)).toEqual([5]);
  });

  it('stays with a match that was right, where the latest would differ', () => {
    const lookup = after([7, 1, 2, 3, 4, 5, 9, 2, 3, 4, 6, 8, 7, 1, 2]);
    expect(lookup.draft(1)).toEqual([3]);
    for (const token of [3, 4]) lookup.push(token);
    expect(lookup.draft(1)).toEqual([5]);
  });

  it('goes on with a text that repeats itself beyond its end', () => {
    expect(after([8, 1, 2, 1, 2, 1]).draft(5)).toEqual([2, 1, 2, 1, 2]);
    expect(after([4, 4, 4, 4]).draft(3)).toEqual([4, 4, 4]);
  });

  it('counts how often it is right, only where there was a draft', () => {
    const lookup = after([1, 2, 3, 4, 5, 6], [1, 2, 3]);
    expect(lookup.hitRate).toBe(0);
    for (const token of [4, 5, 6]) lookup.push(token);
    const right = lookup.hitRate;
    expect(right).toBeGreaterThan(0.4);
    lookup.push(99);
    expect(lookup.hitRate).toBeLessThan(right);
    const low = lookup.hitRate;
    for (const token of [100, 101, 102]) lookup.push(token);
    expect(lookup.hitRate).toBe(low);
  });

  it('indexes the end of a very long prompt only', () => {
    const filler = Array.from({ length: LOOKUP_LIMITS.mostIndexedTokens }, (_, i) => 10 + i);
    expect(after([1, 2, 3, 4, ...filler], [1, 2, 3]).draft(1)).toEqual([]);
    expect(after([...filler, 1, 2, 3, 4], [1, 2, 3]).draft(1)).toEqual([4]);
  });

  it('finds a match exactly where a plain search finds one', () => {
    const tokens = fc.array(fc.nat({ max: 3 }), { maxLength: 40 });
    fc.assert(
      fc.property(tokens, tokens, (prompt, answer) => {
        const all = [...prompt, ...answer];
        const recurs = all.some(
          (_, at) =>
            at + 3 < all.length &&
            all.length >= 3 &&
            [0, 1, 2].every((i) => all[at + i] === all[all.length - 3 + i]),
        );
        const draft = after(prompt, answer).draft(4);
        // A match that was right is kept, and it was found in the same way once.
        expect(draft.length).toBe(recurs || draft.length > 0 ? 4 : 0);
        if (recurs) expect(draft.length).toBe(4);
        if (draft.length > 0) expect(all).toContain(draft[0]);
      }),
      { numRuns: 500 },
    );
  });
});
