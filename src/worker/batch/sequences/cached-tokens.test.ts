import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TokenText, withCachedTokens } from './cached-tokens.ts';

/** Token 0 is a control; all others spell their letters. */
const letters = ['', 'a', 'b', 'aa', 'ab', 'ba', 'aab', 'abab'];
const text: TokenText = {
  tokenBytes: (token) => Buffer.from(letters[token] ?? ''),
  isPlain: (token) => token !== 0,
};
const spell = (tokens: ArrayLike<number>): string =>
  Array.from(tokens, (token) => (token === 0 ? '|' : letters[token])).join('');
const reused = (prompt: readonly number[], ...sequences: number[][]): number[] => [
  ...withCachedTokens(Uint32Array.from(prompt), sequences, text),
];

describe('cached tokens', () => {
  it('replace tokens that spell the same', () => {
    expect(reused([3, 4, 2, 0], [1, 1, 1, 2, 2])).toEqual([1, 1, 1, 2, 2, 0]);
    expect(reused([0, 6, 0, 7], [0, 1, 1, 2, 0, 2])).toEqual([0, 1, 1, 2, 0, 7]);
  });

  it('end at the last boundary that both share', () => {
    // "ab|ab" against "a|ba": the first three letters are the same, the fourth is in the middle of a token.
    expect(reused([4, 4], [1, 5])).toEqual([4, 4]);
    expect(reused([4, 7], [1, 2, 1, 2, 1])).toEqual([1, 2, 7]);
  });

  it('leave a prompt alone that no sequence begins in other tokens', () => {
    expect(reused([3, 1], [3, 1, 1])).toEqual([3, 1]);
    expect(reused([3, 1], [2, 2], [])).toEqual([3, 1]);
    expect(reused([3, 1])).toEqual([3, 1]);
    expect(reused([], [1])).toEqual([]);
  });

  it('come from the sequence that matches most', () => {
    expect(reused([3, 3, 3], [1, 1], [1, 1, 3, 1, 1], [2])).toEqual([1, 1, 3, 1, 1]);
  });

  it('never stand for a control, nor a control for them', () => {
    expect(reused([1, 0, 1], [1, 1])).toEqual([1, 0, 1]);
    expect(reused([0, 3], [1, 1])).toEqual([0, 3]);
    const silent: TokenText = { ...text, isPlain: () => true };
    expect([...withCachedTokens(Uint32Array.of(0, 3), [[1, 1]], silent)]).toEqual([0, 3]);
    const marked: TokenText = { ...text, isPlain: (token) => token !== 0 && token !== 3 };
    expect([...withCachedTokens(Uint32Array.of(3, 2), [[1, 1, 2]], marked)]).toEqual([3, 2]);
    expect([...withCachedTokens(Uint32Array.of(1, 1, 2), [[3, 2]], marked)]).toEqual([1, 1, 2]);
  });

  it('always spell what the prompt spells, and share no less of a sequence', () => {
    const tokens = fc.array(fc.nat({ max: letters.length - 1 }), { maxLength: 20 });
    const shared = (prompt: readonly number[], sequence: readonly number[]): number => {
      let length = 0;
      while (length < prompt.length && prompt[length] === sequence[length]) length += 1;
      return length;
    };
    fc.assert(
      fc.property(tokens, fc.array(tokens, { maxLength: 4 }), (prompt, sequences) => {
        const found = reused(prompt, ...sequences);
        expect(spell(found)).toBe(spell(prompt));
        const most = (tokens: readonly number[]): number =>
          Math.max(
            0,
            ...sequences.map((sequence) => spell(tokens.slice(0, shared(tokens, sequence))).length),
          );
        expect(most(found)).toBeGreaterThanOrEqual(most(prompt));
      }),
      { numRuns: 2_000 },
    );
  });
});
