import { describe, expect, it } from 'vitest';
import { BURST_LIMITS, gatherMs, readsFirst } from './burst.ts';

const { momentMs, readingMs } = BURST_LIMITS;

describe('readsFirst', () => {
  const prompt = (arrivedMs: number, remaining = 40) => ({ arrivedMs, remaining });
  const stream = (arrivedMs: number, said = 1) => ({ arrivedMs, said, firstTokenMs: arrivedMs + 400 });
  const pace = { msPerToken: 4, nowMs: 1400 };

  it('reads prompts that came with the streams before those go on', () => {
    expect(readsFirst([stream(1000)], [prompt(1000 + momentMs)], pace)).toBe(true);
  });

  it('lets a stream go on that came before, whichever others came late', () => {
    expect(readsFirst([stream(1000)], [prompt(1001 + momentMs)], pace)).toBe(false);
    expect(readsFirst([stream(900), stream(1000)], [prompt(1000 + momentMs)], pace)).toBe(false);
  });

  it('never stops a stream that has begun to flow', () => {
    expect(readsFirst([stream(1000), stream(1000, 2)], [prompt(1000)], pace)).toBe(false);
  });

  it('holds no stream for longer than the bound, time gone by included, and not on a guess', () => {
    const most = readingMs / pace.msPerToken;
    expect(readsFirst([stream(1000)], [prompt(1000, most)], pace)).toBe(true);
    expect(readsFirst([stream(1000)], [prompt(1000, most / 2), prompt(1000, most / 2 + 1)], pace)).toBe(
      false,
    );
    expect(readsFirst([stream(1000)], [prompt(1000, most)], { ...pace, nowMs: 1401 })).toBe(false);
    expect(readsFirst([stream(1000)], [prompt(1000)], { ...pace, msPerToken: null })).toBe(false);
  });

  it('has nothing to hold without both', () => {
    expect(readsFirst([], [prompt(0)], pace)).toBe(false);
    expect(readsFirst([stream(0)], [], pace)).toBe(false);
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
