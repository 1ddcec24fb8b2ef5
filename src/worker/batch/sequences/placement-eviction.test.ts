import { describe, expect, it } from 'vitest';
import { type FreeSequence, leastWorth } from './placement.ts';

const sequence = (id: number, cachedTokens: number, lastUsed: number): FreeSequence => ({
  id,
  cachedTokens,
  sharedTokens: 0,
  lastUsed,
});

describe('leastWorth', () => {
  it('takes an empty sequence first, then the least recently used', () => {
    expect(leastWorth([sequence(0, 100, 9), sequence(1, 0, 99), sequence(2, 0, 0)])).toBe(2);
    expect(leastWorth([sequence(0, 100, 9), sequence(1, 100, 5)])).toBe(1);
  });

  it('leaves a long conversation alone while a short one is left, though it was used longer ago', () => {
    expect(leastWorth([sequence(1, 4000, 1), sequence(2, 100, 8), sequence(3, 90, 2)])).toBe(3);
    expect(leastWorth([sequence(1, 4000, 1), sequence(2, 100, 8)])).toBe(2);
  });

  it('prefers state that is nothing but the beginning of the prompt', () => {
    expect(leastWorth([sequence(0, 0, 0), { ...sequence(1, 50, 5), sharedTokens: 50 }])).toBe(1);
  });

  it('says so when there is none', () => {
    expect(() => leastWorth([])).toThrow('no free sequence');
  });
});
