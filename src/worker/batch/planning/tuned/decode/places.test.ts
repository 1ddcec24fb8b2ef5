import { describe, expect, it } from 'vitest';
import type { PlannedRow } from '../../step-planner.ts';
import { placesOf, rowsIn } from './places.ts';

const row = (sequence: number, position = 10): PlannedRow => ({
  kind: 'decode',
  sequence,
  position,
  tokens: 1,
  padding: 0,
});
const rules = { numCtx: 100, canPad: true, sharesCells: true, rowDepthMs: 0.1 };

const text = (...[rows, idle, given]: Parameters<typeof placesOf>) =>
  placesOf(rows, idle, given)
    .map(({ place }) => ({ row: 'r', idle: '.', barrier: 'x' })[place.kind])
    .join('');

describe('places of sequences that share their cells', () => {
  it('are neighbours whatever their ids, with room for padding behind', () => {
    expect(text([row(0), row(5), row(9)], [], rules)).toBe('rrr...');
  });

  it('have no room where nothing can be forgotten, or the context ends', () => {
    expect(text([row(0)], [], { ...rules, canPad: false })).toBe('r');
    expect(text([row(0), row(1, 97)], [], rules)).toBe('rr');
  });

  it('put padding behind the row with the least state to read', () => {
    const places = placesOf([row(0, 50), row(1, 20)], [], rules);
    expect(places.at(-1)?.place.idleMs).toBeCloseTo(2);
    expect(rowsIn(places.slice(0, 4)).map(({ padding }) => padding)).toEqual([0, 2]);
    expect(rowsIn(places.slice(0, 2)).map(({ padding }) => padding)).toEqual([0, 0]);
  });
});

describe('places of sequences with windows of their own', () => {
  const own = { ...rules, sharesCells: false };

  it('are neighbours by id, and what is neither idle nor decoding parts them', () => {
    expect(text([row(0), row(1), row(4)], [{ sequence: 3, position: 5 }], own)).toBe('xxxrrx.rxxx');
  });

  it('take a filler for an idle one, unless its window is full', () => {
    const places = placesOf([row(0), row(2)], [{ sequence: 1, position: 7 }], own).slice(3, 6);
    expect(rowsIn(places).map(({ kind, position }) => [kind, position])).toEqual([
      ['decode', 10],
      ['filler', 7],
      ['decode', 10],
    ]);
    expect(text([row(0), row(2)], [{ sequence: 1, position: 100 }], own)).toBe('xxxrxrxxx');
  });
});
