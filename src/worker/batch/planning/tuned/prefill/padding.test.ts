import { describe, expect, it } from 'vitest';
import { padChunks } from './padding.ts';

/** As measured on two cores with a large model. */
const rules = { mostRows: 512, padWithin: 4096, rowMs: 3, passMs: 43, sharesCells: false };

/** Ends of prompts, by sequence from 0 on; their rows after padding. */
function padded(tokens: readonly number[], more: Partial<typeof rules> & { positions?: number[] } = {}) {
  const { positions = [], ...changed } = more;
  const chunks = tokens.map((count, sequence) => ({ sequence, tokens: count }));
  const waiting = chunks.map(({ sequence, tokens: remaining }) => ({
    sequence,
    position: positions[sequence] ?? 0,
    remaining,
    passedOver: 0,
  }));
  const result = padChunks(chunks, waiting, { ...rules, ...changed });
  expect(result.map(({ sequence, tokens: count }) => ({ sequence, tokens: count }))).toEqual(chunks);
  return result.map(({ tokens: count, padding }) => count + padding);
}

describe('padChunks', () => {
  it('makes lengths that differ little one, because each of them would be a pass', () => {
    expect(padded([38, 41, 40, 39])).toEqual([41, 41, 41, 41]);
    expect(padded([64, 64, 46, 64])).toEqual([64, 64, 64, 64]);
  });

  it('makes two lengths where one would be too many rows', () => {
    expect(padded([10, 12, 150, 152])).toEqual([12, 12, 152, 152]);
  });

  it('leaves a chunk at the beginning of a context alone, where a tile spares nothing', () => {
    for (const tokens of [30, 50, 60]) expect(padded([tokens])).toEqual([tokens]);
  });

  it('fills a tile the earlier, the deeper the chunk stands', () => {
    const least = (position: number) => {
      for (let tokens = 1; tokens <= 64; tokens += 1)
        if (padded([tokens], { positions: [position] })[0] === 64) return tokens;
      return null;
    };
    expect(least(256)).toBeGreaterThan(30);
    expect(least(256)).toBeLessThanOrEqual(42);
    expect(least(512)).toBeLessThanOrEqual(33);
    expect(least(1536)).toBeLessThanOrEqual(25);
    expect(padded([4], { positions: [1536] })).toEqual([4]);
  });

  it('lets no short chunk spoil the tile of a deep one', () => {
    expect(padded([45, 64], { positions: [0, 1500] })).toEqual([64, 64]);
  });

  it('sees that ids which lie apart are passes of their own', () => {
    // Of three lengths, the longer two are no neighbours: two more passes instead of one.
    const near = padded([40, 78, 78], { passMs: 30 });
    const apart = padded([78, 40, 78], { passMs: 30 });
    expect(near).toEqual([40, 78, 78]);
    expect(apart).toEqual([78, 78, 78]);
  });

  it('pads nothing beyond the context or the rows of a step, and nothing where the memory cannot be cut', () => {
    const deep = { positions: [1500] };
    expect(padded([40], { ...deep, padWithin: 1563 })).toEqual([40]);
    expect(padded([40], { ...deep, padWithin: 1564 })).toEqual([64]);
    expect(padded([40], { ...deep, mostRows: 63 })).toEqual([40]);
    expect(padded([40], { ...deep, padWithin: 0 })).toEqual([40]);
    expect(padded([38, 41], { mostRows: 81 })).toEqual([38, 41]);
  });

  it('never pads a chunk after which its prompt goes on', () => {
    const wait = { sequence: 0, position: 1500, remaining: 500, passedOver: 0 };
    expect(padChunks([{ sequence: 0, tokens: 40 }], [wait], rules)).toEqual([
      { sequence: 0, tokens: 40, position: 1500, padding: 0 },
    ]);
  });

  it('pads lengths that differ only up to a tile where cells are shared, because they are one pass anyway', () => {
    const shared = { sharesCells: true };
    expect(padded([38, 41, 40, 39], shared)).toEqual([38, 41, 40, 39]);
    expect(padded([30, 12], { ...shared, positions: [1500, 1500] })).not.toEqual([30, 12]);
    expect(padded([40], { ...shared, positions: [1500] })).toEqual([64]);
    expect(padded([40, 64], { ...shared, positions: [1500, 1500] })).toEqual([40, 64]);
  });

  it('does nothing without chunks', () => {
    expect(padChunks([], [], rules)).toEqual([]);
  });
});
