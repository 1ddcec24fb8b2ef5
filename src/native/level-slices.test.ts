import { describe, expect, it } from 'vitest';
import { levelSlices } from './level-slices.ts';

const rules = { rows: 512, padWithin: 4096, rowMs: 2.5, passMs: 30 };
const wait = (sequence: number, position = 0) => ({ sequence, position, remaining: 500, passedOver: 0 });
const slices = (...tokens: number[]) =>
  tokens.map((count, sequence) => ({ sequence, tokens: count, padding: 0 }));
const lengths = (levelled: readonly { tokens: number; padding: number }[]) =>
  levelled.map(({ tokens, padding }) => tokens + padding);

describe('levelSlices', () => {
  const waiting = [0, 1, 2, 3].map((sequence) => wait(sequence));

  it('makes lengths that differ little one', () => {
    expect(lengths(levelSlices(slices(38, 41, 40, 39), waiting, rules))).toEqual([41, 41, 41, 41]);
  });

  it('leaves lengths apart that differ more than a pass is worth', () => {
    expect(lengths(levelSlices(slices(10, 90, 12, 88), waiting, rules))).toEqual([12, 90, 12, 90]);
  });

  it('never cuts a slice and keeps the padding that it had', () => {
    const padded = [
      { sequence: 0, tokens: 50, padding: 14 },
      { sequence: 1, tokens: 60, padding: 0 },
    ];
    expect(levelSlices(padded, waiting, rules)).toEqual([
      { sequence: 0, tokens: 50, padding: 14 },
      { sequence: 1, tokens: 60, padding: 4 },
    ]);
  });

  it('adds no rows below a tile deep in a context, where each of them is dear', () => {
    const deep = [wait(0, 1500), wait(1, 1500)];
    const given = slices(38, 41);
    expect(levelSlices(given, deep, rules)).toBe(given);
    expect(lengths(levelSlices(slices(66, 68), deep, rules))).toEqual([68, 68]);
  });

  it('changes nothing where padding does not fit or its price is not known', () => {
    const given = slices(38, 41);
    expect(levelSlices(given, waiting, { ...rules, rows: 81 })).toBe(given);
    expect(levelSlices(given, waiting, { ...rules, rowMs: null })).toBe(given);
    expect(levelSlices(given, [wait(0, 100), wait(1)], { ...rules, padWithin: 140 })).toBe(given);
    expect(levelSlices(given, waiting, { ...rules, padWithin: 0 })).toBe(given);
  });
});
