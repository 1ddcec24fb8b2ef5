import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXACT_TILES } from '../../../contract/settings/exact-rules.ts';
import { computedTiles, mostReused, type Tile, tiledCall, tileRules } from './tiles.ts';

const exact = { ...tileRules({ exact: {} }), endsTogether: true };
const any = tileRules({});

describe('tiles that the library computes', () => {
  it.each<[string, [number, number][], [number, number][]]>([
    [
      'one prompt',
      [[0, 130]],
      [
        [0, 64],
        [0, 64],
        [0, 2],
      ],
    ],
    [
      'neighbours, in equal parts',
      [
        [0, 40],
        [1, 33],
      ],
      [
        [0, 32],
        [1, 32],
        [0, 1],
        [1, 1],
        [0, 7],
      ],
    ],
    [
      'ids apart, one after the other',
      [
        [0, 3],
        [2, 5],
      ],
      [
        [0, 3],
        [2, 5],
      ],
    ],
    [
      'a row beside a prompt',
      [
        [3, 1],
        [4, 9],
      ],
      [
        [3, 1],
        [4, 1],
        [4, 8],
      ],
    ],
    [
      'three, of which the second ends first',
      [
        [0, 9],
        [1, 2],
        [2, 9],
      ],
      [
        [0, 2],
        [1, 2],
        [2, 2],
        [0, 7],
        [2, 7],
      ],
    ],
  ])('are, of %s', (_, call, tiles) => {
    const pairs = (list: readonly Tile[]) => list.map(({ sequence, tokens }) => [sequence, tokens]);
    const rows = call.map(([sequence, tokens]) => ({ sequence, tokens }));
    expect(pairs(computedTiles(rows, EXACT_TILES.microBatchTokens))).toEqual(tiles);
  });
});

describe('a call of an exact load', () => {
  const prompt = fc.record({
    sequence: fc.integer({ min: 0, max: 9 }),
    remaining: fc.oneof(fc.integer({ min: 2, max: 8 }), fc.integer({ min: 2, max: 300 })),
    share: fc.double({ min: 0.01, max: 1, noNaN: true }),
  });
  const prompts = fc.uniqueArray(prompt, {
    minLength: 1,
    maxLength: 6,
    selector: ({ sequence }) => sequence,
  });

  it('computes every prompt in tiles of two rows and more, and ends each at some time', () => {
    fc.assert(
      fc.property(prompts, fc.boolean(), fc.boolean(), (all, whole, endsTogether) => {
        let left = new Map(all.map((each) => [each.sequence, each]));
        while (left.size > 0) {
          const wanted = [...left.values()].map(({ sequence, remaining, share }) => ({
            sequence,
            tokens: whole ? remaining : Math.ceil(remaining * share),
          }));
          const call = tiledCall(wanted, left, { ...exact, endsTogether }).sort(
            (a, b) => a.sequence - b.sequence,
          );
          expect(call.map(({ sequence }) => sequence)).toContain(wanted[0]?.sequence);
          const ends = call.filter(({ sequence, tokens }) => left.get(sequence)?.remaining === tokens);
          expect(endsTogether || ends.length <= 1).toBe(true);
          const tiles = computedTiles(call, exact.microBatchTokens);
          expect(Math.min(...tiles.map(({ tokens }) => tokens))).toBeGreaterThan(1);
          for (const { sequence, tokens } of call) {
            const before = left.get(sequence);
            if (before === undefined) throw new Error(`sequence ${sequence} was not asked for`);
            expect(before.remaining - tokens).not.toBe(1);
            left.set(sequence, { ...before, remaining: before.remaining - tokens });
          }
          left = new Map([...left].filter(([, { remaining }]) => remaining > 0));
        }
      }),
    );
  });

  it('has all prompts that were wanted, where a few tokens less are enough for that', () => {
    const call = (...lengths: number[]) => {
      const wanted = lengths.map((tokens, sequence) => ({ sequence, tokens }));
      const all = new Map(lengths.map((remaining, sequence) => [sequence, { remaining }]));
      return tiledCall(wanted, all, exact).map(({ tokens }) => tokens);
    };
    expect(call(40, 40, 40, 40)).toEqual([40, 40, 40, 40]);
    expect(call(33, 32)).toEqual([33, 30]);
    expect(call(65)).toEqual([63]);
    expect(call(2, 3)).toEqual([2]);
  });
});

describe('what is reused', () => {
  it('leaves a tile to evaluate', () => {
    expect([1, 2, 3, 100].map((tokens) => mostReused(tokens, exact))).toEqual([0, 0, 1, 98]);
    expect([1, 100].map((tokens) => mostReused(tokens, any))).toEqual([0, 99]);
  });
});
