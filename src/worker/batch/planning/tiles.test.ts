import { describe, expect, it } from 'vitest';
import { tileRules } from '../../../contract/settings/exact-rules.ts';
import { ANY_TILES, mostReused, tileTokens } from './tiles.ts';

const [cuttable, summary] = [tileRules(true), tileRules(false)];

/** The sizes of the micro-batches that a prompt is computed in, whatever each call wants. */
function microBatches(from: number, length: number, wanted: () => number, rules = cuttable): number[] {
  const sizes: number[] = [];
  for (let position = from; position < length; ) {
    const tokens = tileTokens({ position, remaining: length - position }, wanted(), rules);
    for (let left = tokens; left > 0; left -= rules.microBatchTokens)
      sizes.push(Math.min(left, rules.microBatchTokens));
    position += tokens;
  }
  return sizes;
}

describe('tiles of an exact load', () => {
  it('have at least two rows, however a prompt is divided and from wherever it is taken up', () => {
    for (let length = 2; length < 300; length += 1) {
      for (const wanted of [1, 2, 16, 63, 64, 65, 100, 129, 512]) {
        for (const from of new Set([
          0,
          Math.min(1, mostReused(length, cuttable)),
          mostReused(length, cuttable),
        ])) {
          const sizes = microBatches(from, length, () => wanted);
          expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(length - from);
          const told = `${length} from ${from} by ${wanted}: ${sizes.join(' ')}`;
          expect(Math.min(...sizes), told).toBeGreaterThan(1);
        }
      }
    }
    expect(microBatches(0, 1, () => 512)).toEqual([1]);
  });

  it('of a state that is a summary are those of a lone run', () => {
    for (let length = 1; length < 300; length += 1) {
      const lone = microBatches(0, length, () => 512, summary);
      for (const wanted of [1, 16, 64, 100, 130]) {
        expect(microBatches(0, length, () => wanted, summary)).toEqual(lone);
        const from = mostReused(length, summary);
        expect(microBatches(from, length, () => wanted, summary)).toEqual(lone.slice(from / 64));
      }
    }
  });

  it('of other loads may be any', () => {
    expect(tileTokens({ position: 3, remaining: 100 }, 99, ANY_TILES)).toBe(99);
    expect([mostReused(1, ANY_TILES), mostReused(100, ANY_TILES)]).toEqual([0, 99]);
  });

  it('leave a tile to evaluate behind what is reused', () => {
    expect([1, 2, 3, 100].map((tokens) => mostReused(tokens, cuttable))).toEqual([0, 0, 1, 98]);
    expect([1, 64, 65, 129].map((tokens) => mostReused(tokens, summary))).toEqual([0, 0, 64, 128]);
  });
});
