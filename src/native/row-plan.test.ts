import { describe, expect, it } from 'vitest';
import { fillers, slicePrompts } from './row-plan.ts';
import { StepTimes } from './step-times.ts';

/** As measured on two cores: rows in groups of four, what is left over nearly one pass each. */
const times = new StepTimes();
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

describe('slicePrompts', () => {
  const wait = (sequence: number, remaining: number, passedOver = 0) => ({ sequence, remaining, passedOver });

  it('serves the shortest prompt first and packs short ones together', () => {
    expect(slicePrompts([wait(0, 500), wait(1, 10), wait(2, 20)], 64, 0)).toEqual([
      { sequence: 1, tokens: 10 },
      { sequence: 2, tokens: 20 },
      { sequence: 0, tokens: 32 },
    ]);
  });

  it('serves a prompt that was passed over too often first', () => {
    expect(slicePrompts([wait(0, 500, 8), wait(1, 10)], 64, 0)[0]).toEqual({ sequence: 0, tokens: 64 });
  });

  it('cuts on whole groups of rows, with one more beside decode rows', () => {
    expect(slicePrompts([wait(0, 500)], 67, 0)).toEqual([{ sequence: 0, tokens: 64 }]);
    expect(slicePrompts([wait(0, 500)], 67, 2)).toEqual([{ sequence: 0, tokens: 65 }]);
  });
});
