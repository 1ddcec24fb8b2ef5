import { describe, expect, it } from 'vitest';
import { decodeMs, fillers, ROW_TILE, slicePrompts } from './row-plan.ts';
import { StepTimes } from './step-times.ts';

/** As measured on two cores: rows in groups of four, what is left over nearly one pass each. */
const measured = [0, 18, 34, 49.5, 39.5, 57, 73, 90, 72];
const times = new StepTimes();
for (const [rows, ms] of measured.entries()) times.sawStep([...measured.keys()].slice(0, rows), ms);
const stepMs = (rows: number): number => times.stepMs(rows);
const always = (): boolean => true;

describe('fillers', () => {
  it('leaves one, two and four neighbours alone', () => {
    for (const ids of [[], [0], [3], [0, 1], [0, 1, 2, 3]]) expect(fillers(ids, always, stepMs)).toEqual([]);
  });

  it('makes three rows four and seven eight', () => {
    expect(fillers([0, 1, 2], always, stepMs)).toEqual([3]);
    expect(fillers([0, 1, 2, 3, 4, 5, 6], always, stepMs)).toEqual([7]);
  });

  it('pads below when there is nothing above', () => {
    expect(fillers([5, 6, 7], (id) => id >= 0 && id < 8, stepMs)).toEqual([4]);
    expect(fillers([5, 6, 7], () => false, stepMs)).toEqual([]);
  });

  it('joins runs when one pass is cheaper than two, and not when it is dearer', () => {
    expect(fillers([0, 1, 3], always, stepMs)).toEqual([2]);
    expect(fillers([0, 7], always, stepMs)).toEqual([]);
  });

  it('fills no gap that a busy sequence stands in', () => {
    expect(fillers([0, 1, 3], (id) => id !== 2 && id < 4, stepMs)).toEqual([]);
  });

  it('never names a decoding sequence or the same one twice', () => {
    for (let bits = 1; bits < 256; bits++) {
      const ids = [0, 1, 2, 3, 4, 5, 6, 7].filter((id) => (bits >> id) & 1);
      const filled = fillers(ids, (id) => id >= 0 && id < 8, stepMs);
      expect(new Set([...ids, ...filled]).size).toBe(ids.length + filled.length);
    }
  });
});

describe('decodeMs', () => {
  it('adds one run of rows per run of consecutive ids', () => {
    const flat = (rows: number): number => 100 + rows;
    expect(decodeMs([], flat)).toBe(0);
    expect(decodeMs([2, 0, 1, 3], flat)).toBe(104);
    expect(decodeMs([0, 2, 3, 7], flat)).toBe(101 + 102 + 101);
  });
});

describe('slicePrompts', () => {
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
  const slice = (sequence: number, tokens: number) => ({ sequence, tokens });

  it('serves the shortest prompt first and packs short ones together, whole', () => {
    expect(slicePrompts([wait(0, 500), wait(1, 10), wait(2, 20)], rules)).toEqual([
      slice(1, 10),
      slice(2, 20),
    ]);
  });

  it('serves prompts of about the same length by their ids, so that neighbours share their passes', () => {
    const waiting = [50, 45, 44, 49, 43, 48].map((remaining, id) => wait(id, remaining));
    const slices = slicePrompts(waiting, { ...rules, budget: 150 });
    expect(slices.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
  });

  it('serves a prompt that was passed over too often first', () => {
    const [first] = slicePrompts([wait(0, 500, { passedOver: 8 }), wait(1, 10)], rules);
    expect(first).toEqual(slice(0, 64));
  });

  it('lets no prompt wait for ever behind others that are as impatient', () => {
    const waiting = [wait(0, 4000, { passedOver: 40 }), wait(1, 10, { passedOver: 9 }), wait(2, 20)];
    expect(slicePrompts(waiting, rules)[0]).toEqual(slice(0, 64));
  });

  it('cuts on whole tiles of rows, or at least on groups', () => {
    const cut = (budget: number) => slicePrompts([wait(0, 500)], { ...rules, budget })[0]?.tokens;
    expect(cut(150)).toBe(128);
    expect(cut(30)).toBe(28);
  });

  it('takes the end of a prompt along that would be less than a tile, but not beside decode rows', () => {
    const taken = (remaining: number, more = {}) =>
      slicePrompts([wait(0, remaining)], { ...rules, budget: 128, ...more })[0]?.tokens;
    expect(taken(191)).toBe(191);
    expect(taken(192)).toBe(128);
    expect(taken(140, { idle: false })).toBe(128);
    expect(taken(540, { budget: 512 })).toBe(512);
    expect(taken(40, { budget: 16 })).toBe(16);
    expect(taken(140, { mostRows: 128 })).toBe(128);
    expect(taken(500, { budget: 448 })).toBe(500);
  });

  it('always has a slice, and stays within the budget beside decode rows', () => {
    for (let seed = 1; seed < 300; seed++) {
      const waiting = [1, 2, 3].map((id) => wait(id, ((seed * id * 37) % 150) + 1, { position: seed * 3 }));
      const idle = seed % 2 === 0;
      const slices = slicePrompts(waiting, { ...rules, budget: 128, idle });
      const rows = slices.reduce((sum, { tokens }) => sum + tokens, 0);
      expect(rows).toBeLessThanOrEqual(128 + (idle ? ROW_TILE - 1 : 0));
      expect(slices.length).toBeGreaterThan(0);
    }
  });
});
