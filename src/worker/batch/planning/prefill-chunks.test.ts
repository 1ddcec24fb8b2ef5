import { describe, expect, it } from 'vitest';
import { chunkPrompts } from './prefill-chunks.ts';
import { ROW_TILE } from './tuning.ts';

describe('chunkPrompts', () => {
  const wait = (
    sequence: number,
    remaining: number,
    more: { passedOver?: number; position?: number } = {},
  ) => ({
    sequence,
    remaining,
    position: 0,
    passedOver: 0,
    ...more,
  });
  const rules = { budget: 64, mostRows: 512, idle: true };
  const chunk = (sequence: number, tokens: number) => ({ sequence, tokens });

  it('serves the shortest prompt first and packs short ones together, whole', () => {
    expect(chunkPrompts([wait(0, 500), wait(1, 10), wait(2, 20)], rules)).toEqual([
      chunk(1, 10),
      chunk(2, 20),
    ]);
  });

  it('serves prompts of about the same length by their ids, so that neighbours share their passes', () => {
    const waiting = [50, 45, 44, 49, 43, 48].map((remaining, id) => wait(id, remaining));
    const chunks = chunkPrompts(waiting, { ...rules, budget: 150 });
    expect(chunks.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
  });

  it('serves a prompt that was passed over too often first', () => {
    const [first] = chunkPrompts([wait(0, 500, { passedOver: 8 }), wait(1, 10)], rules);
    expect(first).toEqual(chunk(0, 64));
  });

  it('serves the most impatient of several impatient prompts first', () => {
    const waiting = [wait(0, 4000, { passedOver: 40 }), wait(1, 10, { passedOver: 9 }), wait(2, 20)];
    expect(chunkPrompts(waiting, rules)[0]).toEqual(chunk(0, 64));
  });

  it('cuts on whole tiles of rows, or at least on groups', () => {
    const cut = (budget: number) => chunkPrompts([wait(0, 500)], { ...rules, budget })[0]?.tokens;
    expect(cut(150)).toBe(128);
    expect(cut(30)).toBe(28);
  });

  it('takes the end of a prompt along that would be less than a tile, but not beside decode rows', () => {
    const taken = (remaining: number, more = {}) =>
      chunkPrompts([wait(0, remaining)], { ...rules, budget: 128, ...more })[0]?.tokens;
    expect(taken(191)).toBe(191);
    expect(taken(192)).toBe(128);
    expect(taken(140, { idle: false })).toBe(128);
    expect(taken(540, { budget: 512 })).toBe(512);
    expect(taken(40, { budget: 16 })).toBe(16);
    expect(taken(140, { mostRows: 128 })).toBe(128);
    expect(taken(500, { budget: 448 })).toBe(500);
  });

  it('always has a chunk, and stays within the budget beside decode rows', () => {
    for (let seed = 1; seed < 300; seed += 1) {
      const waiting = [1, 2, 3].map((id) => wait(id, ((seed * id * 37) % 150) + 1, { position: seed * 3 }));
      const idle = seed % 2 === 0;
      const chunks = chunkPrompts(waiting, { ...rules, budget: 128, idle });
      const rows = chunks.reduce((sum, { tokens }) => sum + tokens, 0);
      expect(rows).toBeLessThanOrEqual(128 + (idle ? ROW_TILE - 1 : 0));
      expect(chunks.length).toBeGreaterThan(0);
    }
  });
});
