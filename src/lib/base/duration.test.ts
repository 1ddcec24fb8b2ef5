import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [250, '250ms'],
    [3000, '3s'],
    [300_000, '5m'],
    [5_400_000, '1h30m'],
    [90_061_001, '1d1h1m1s1ms'],
  ])('writes %d ms as %s, which reads as the same span', (spanMs, text) => {
    expect(formatDuration(spanMs)).toBe(text);
    expect(parseDuration(text)).toBe(spanMs);
  });

  it('has words for a span without end', () => {
    expect(formatDuration(Infinity)).toBe('forever');
  });
});
