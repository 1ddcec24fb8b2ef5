import { describe, expect, it } from 'vitest';
import { lingerMs, prefillsFirst } from './coalescing.ts';
import { COALESCING_LIMITS } from './tuning.ts';

const { arrivalWindowMs, prefillMs, lingerShare, lingerMostMs } = COALESCING_LIMITS;

describe('prefillsFirst', () => {
  const prompt = (arrivedMs: number, remaining = 40) => ({ arrivedMs, remaining });
  const stream = (arrivedMs: number, answerTokens = 1) => ({
    arrivedMs,
    answerTokens,
    firstTokenMs: arrivedMs + 400,
  });
  const pace = { msPerToken: 4, nowMs: 1400 };

  it('prefills prompts that arrived with the streams before those go on', () => {
    expect(prefillsFirst([stream(1000)], [prompt(1000 + arrivalWindowMs)], pace)).toBe(true);
  });

  it('lets a stream go on that arrived earlier, whichever others arrived late', () => {
    expect(prefillsFirst([stream(1000)], [prompt(1001 + arrivalWindowMs)], pace)).toBe(false);
    expect(prefillsFirst([stream(900), stream(1000)], [prompt(1000 + arrivalWindowMs)], pace)).toBe(false);
  });

  it('waits 150 ms for others and holds a stream for 3 s of prefill', () => {
    expect(prefillsFirst([stream(1000)], [prompt(1150, 750)], pace)).toBe(true);
    expect(prefillsFirst([stream(1000)], [prompt(1151, 750)], pace)).toBe(false);
    expect(prefillsFirst([stream(1000)], [prompt(1150, 751)], pace)).toBe(false);
  });

  it('never stops a stream that has sent its second token', () => {
    expect(prefillsFirst([stream(1000), stream(1000, 2)], [prompt(1000)], pace)).toBe(false);
  });

  it('holds no stream for longer than the bound, elapsed time included, and not while the rate is unknown', () => {
    const most = prefillMs / pace.msPerToken;
    expect(prefillsFirst([stream(1000)], [prompt(1000, most)], pace)).toBe(true);
    expect(prefillsFirst([stream(1000)], [prompt(1000, most / 2), prompt(1000, most / 2 + 1)], pace)).toBe(
      false,
    );
    expect(prefillsFirst([stream(1000)], [prompt(1000, most)], { ...pace, nowMs: 1401 })).toBe(false);
    expect(prefillsFirst([stream(1000)], [prompt(1000)], { ...pace, msPerToken: null })).toBe(false);
  });

  it('holds nothing without streams or without prompts', () => {
    expect(prefillsFirst([], [prompt(0)], pace)).toBe(false);
    expect(prefillsFirst([stream(0)], [], pace)).toBe(false);
  });
});

describe('lingerMs', () => {
  it('is a small share of the prefill time, and never long', () => {
    expect(lingerMs(100, 4)).toBeCloseTo(100 * 4 * lingerShare);
    expect(lingerMs(10_000, 4)).toBe(lingerMostMs);
  });

  it('is 12 ms for 100 tokens of 4 ms, and 25 ms at most', () => {
    expect(lingerMs(100, 4)).toBeCloseTo(12);
    expect(lingerMs(10_000, 4)).toBe(25);
  });

  it('is zero where it would be felt, and while the rate is unknown', () => {
    expect(lingerMs(50, 0.1)).toBe(0);
    expect(lingerMs(10_000, null)).toBe(0);
  });
});
