import { describe, expect, it } from 'vitest';
import { steadyRate } from './rates.ts';

describe('the rate while all streams decode', () => {
  it('counts neither what came before the last one began nor after the first one ended', () => {
    const early = { arrivalsMs: [0, 100, 200, 300, 400], tokens: 5 };
    const late = { arrivalsMs: [200, 300, 400, 500], tokens: 4 };
    // From 200 to 400 ms, two tokens of each.
    expect(steadyRate([early, late])).toBe(20);
  });

  it('counts tokens where a chunk has several', () => {
    expect(steadyRate([{ arrivalsMs: [0, 500, 1000], tokens: 6 }])).toBe(4);
  });

  it('is 0 where the streams never ran together', () => {
    const [first, second] = [
      { arrivalsMs: [0, 10], tokens: 2 },
      { arrivalsMs: [20, 30], tokens: 2 },
    ];
    expect(steadyRate([first, second])).toBe(0);
  });
});
