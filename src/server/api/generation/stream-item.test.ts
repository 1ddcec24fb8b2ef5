import { describe, expect, it } from 'vitest';
import { ProgressRemarks, remainingMs } from './stream-item.ts';

const at = (elapsedMs: number, evaluatedTokens: number, cachedTokens = 0) => ({
  type: 'progress' as const,
  promptTokens: 1_000,
  cachedTokens,
  evaluatedTokens,
  elapsedMs,
});

describe('the rest of a prompt', () => {
  it('is as fast as what was evaluated, without what was cached', () => {
    expect(remainingMs(at(2_000, 600, 500))).toBe(8_000);
    expect(remainingMs(at(0, 500, 500))).toBeNull();
    expect(remainingMs(at(2_000, 1_000))).toBe(0);
  });
});

describe('remarks', () => {
  it('come once a second from the first second on, and not at the end', () => {
    const remarks = new ProgressRemarks();
    const events = [at(0, 0), at(400, 100), at(1_000, 250), at(1_900, 450), at(2_100, 500), at(4_000, 1_000)];
    expect(events.map((event) => remarks.of(event))).toEqual([
      null,
      null,
      'processing the prompt: 25% of 1000 tokens, about 3 s left',
      null,
      'processing the prompt: 50% of 1000 tokens, about 3 s left',
      null,
    ]);
  });

  it('say no time while none is known', () => {
    expect(new ProgressRemarks().of(at(1_500, 500, 500))).toBe('processing the prompt: 50% of 1000 tokens');
  });
});
