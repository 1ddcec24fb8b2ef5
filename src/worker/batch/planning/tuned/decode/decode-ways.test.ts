import { describe, expect, it } from 'vitest';
import { cheapestWay, type Place, runsOf, sizesWorthTrying, spanOf } from './decode-ways.ts';

/** r: a row, .: an idle place, x: a barrier. */
const placesOf = (text: string, idleMs = 0): Place[] =>
  [...text].map((letter) => ({ kind: letter === 'r' ? 'row' : letter === '.' ? 'idle' : 'barrier', idleMs }));

const way = (text: string, ms: readonly (number | null)[], idleMs = 0) =>
  cheapestWay(placesOf(text, idleMs), { price: (rows) => ms[rows] ?? null, sizes: [...ms.keys()].slice(1) });

const spans = (text: string, ms: readonly (number | null)[], idleMs = 0) =>
  way(text, ms, idleMs)?.spans.map(({ from, rows }) => [from, rows]);

const AMD = [0, 25, 75, 98, 104];
const INTEL = [0, 43, 73, 85, 78];

describe('cheapestWay', () => {
  it('takes rows apart, together or in groups, whatever costs least', () => {
    expect(spans('rr', AMD)).toEqual([
      [0, 1],
      [1, 1],
    ]);
    expect(spans('rr', INTEL)).toEqual([[0, 2]]);
    expect(spans('rrrr', INTEL)).toEqual([[0, 4]]);
    expect(
      spans('rrrrrr', INTEL)
        ?.map(([, rows]) => rows)
        .sort(),
    ).toEqual([2, 4]);
  });

  it('takes an idle place along where that is cheaper, reading its state included', () => {
    expect(spans('rrr...', INTEL)).toEqual([[0, 4]]);
    expect(spans('rrr...', INTEL, 10)).toEqual([[0, 3]]);
    expect(spans('.rrr', INTEL)).toEqual([[0, 4]]);
    expect(spans('rr.r', INTEL)).toEqual([[0, 4]]);
  });

  it('joins nothing across a barrier, and calls nothing without rows', () => {
    expect(spans('rrxr', INTEL)).toEqual([
      [0, 2],
      [3, 1],
    ]);
    expect(spans('x...x', INTEL)).toEqual([]);
  });

  it('knows no way where the prices do not say', () => {
    expect(way('rrr', [0, null, 70])).toBeNull();
    expect(way('rrrr', [0, null, 70])?.ms).toBe(140);
  });

  it('stays quick with as many sequences as there can be', () => {
    const ms = Array.from({ length: 65 }, (_, rows) => 20 + rows);
    expect(way('r'.repeat(256), ms)?.spans.length).toBe(4);
  });
});

describe('places', () => {
  it('have runs of neighbouring rows', () => {
    expect(runsOf(placesOf('rr.rxr'))).toEqual([
      { from: 0, rows: 2 },
      { from: 3, rows: 1 },
      { from: 5, rows: 1 },
    ]);
  });

  it('are worth halves, doublings and a group that lacks one row', () => {
    expect(sizesWorthTrying(placesOf('rrrrrrr.')).sort((a, b) => a - b)).toEqual([1, 2, 4, 7, 8]);
    expect(sizesWorthTrying(placesOf('rrrrrrr')).sort((a, b) => a - b)).toEqual([1, 2, 4, 7]);
    expect(sizesWorthTrying(placesOf('r...'))).toEqual([1]);
  });

  it('hold a call of so many rows where most of them are rows', () => {
    expect(spanOf(2, placesOf('r.rr'))).toEqual({ from: 2, rows: 2 });
    expect(spanOf(4, placesOf('rrr.'))).toEqual({ from: 0, rows: 4 });
    expect(spanOf(5, placesOf('rrrr'))).toBeNull();
    expect(spanOf(2, placesOf('rxr'))).toBeNull();
  });
});
