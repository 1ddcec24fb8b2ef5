import { describe, expect, it } from 'vitest';
import { decodeMs, fillers } from './filler-rows.ts';
import { StepTimes } from './step-times.ts';

/** As measured on two cores: rows in groups of four, a remaining row costs nearly one pass. */
const measured = [0, 18, 34, 49.5, 39.5, 57, 73, 90, 72];
const times = new StepTimes();
for (const [rows, ms] of measured.entries()) times.observe([...measured.keys()].slice(0, rows), ms);
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

  it('joins runs when one pass is cheaper than two, and not when it costs more', () => {
    expect(fillers([0, 1, 3], always, stepMs)).toEqual([2]);
    expect(fillers([0, 7], always, stepMs)).toEqual([]);
  });

  it('fills no gap that a busy sequence stands in', () => {
    expect(fillers([0, 1, 3], (id) => id !== 2 && id < 4, stepMs)).toEqual([]);
  });

  it('never names a decoding sequence or the same one twice', () => {
    for (let bits = 1; bits < 256; bits += 1) {
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
