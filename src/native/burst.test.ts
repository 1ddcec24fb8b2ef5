import { describe, expect, it } from 'vitest';
import { BURST_LIMITS, gatherMs, readsFirst } from './burst.ts';

const { momentMs, readingMs } = BURST_LIMITS;

describe('readsFirst', () => {
  const prompt = (arrivedMs: number, remaining = 40) => ({ arrivedMs, remaining });

  it('reads prompts that came with the streams before those go on', () => {
    expect(readsFirst([{ arrivedMs: 1000 }], [prompt(1000 + momentMs)], 4)).toBe(true);
  });

  it('lets a stream go on that came before, whichever others came late', () => {
    expect(readsFirst([{ arrivedMs: 1000 }], [prompt(1001 + momentMs)], 4)).toBe(false);
    expect(readsFirst([{ arrivedMs: 900 }, { arrivedMs: 1000 }], [prompt(1000 + momentMs)], 4)).toBe(false);
  });

  it('holds no stream for longer than the bound, and not on a guess', () => {
    expect(readsFirst([{ arrivedMs: 0 }], [prompt(0, readingMs / 4)], 4)).toBe(true);
    expect(readsFirst([{ arrivedMs: 0 }], [prompt(0, readingMs / 8), prompt(0, readingMs / 8 + 1)], 4)).toBe(
      false,
    );
    expect(readsFirst([{ arrivedMs: 0 }], [prompt(0)], null)).toBe(false);
  });

  it('has nothing to hold without both', () => {
    expect(readsFirst([], [prompt(0)], 4)).toBe(false);
    expect(readsFirst([{ arrivedMs: 0 }], [], 4)).toBe(false);
  });
});

describe('gatherMs', () => {
  it('waits a small share of the reading time, and never long', () => {
    expect(gatherMs(100, 4)).toBeCloseTo(100 * 4 * BURST_LIMITS.gatherShare);
    expect(gatherMs(10_000, 4)).toBe(BURST_LIMITS.gatherMostMs);
  });

  it('does not wait where that would be felt, or on a guess', () => {
    expect(gatherMs(50, 0.1)).toBe(0);
    expect(gatherMs(10_000, null)).toBe(0);
  });
});
