import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftLength } from './draft-length.ts';

/** As measured on two cores with a large model: 43 ms for one row, and 4 to 8 for each one more. */
const prices = { plainMs: 43, extraRowMs: 5 };
const stream = (hitRate: number, draftTokens = 15) => ({ draftTokens, draftHitRate: hitRate });
const undrafted = stream(0, 0);

describe('draft length', () => {
  it('is zero where no draft was accepted, or there is none', () => {
    expect(draftLength([stream(0)], prices, 15)).toBe(0);
    expect(draftLength([undrafted], prices, 15)).toBe(0);
    expect(draftLength([], prices, 15)).toBe(0);
  });

  it('grows with the hit rate', () => {
    const lengths = [0.2, 0.5, 0.8, 0.95, 1].map((rate) => draftLength([stream(rate)], prices, 15));
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(lengths[0]).toBeLessThanOrEqual(1);
    expect(lengths[2]).toBeGreaterThanOrEqual(3);
    expect(lengths[4]).toBe(15);
  });

  it('is zero where a row costs as much as it can gain', () => {
    expect(draftLength([stream(0.9)], { plainMs: 43, extraRowMs: 43 }, 15)).toBe(0);
    expect(draftLength([stream(0.3)], { plainMs: 43, extraRowMs: 15 }, 15)).toBe(0);
  });

  it('never exceeds the draft, the setting or the rows of a step', () => {
    expect(draftLength([stream(1, 4)], prices, 15)).toBe(4);
    expect(draftLength([stream(1)], prices, 6)).toBe(6);
    expect(draftLength([stream(1)], prices, 0)).toBe(0);
    expect(
      draftLength(Array<ReturnType<typeof stream>>(8).fill(stream(1)), { plainMs: 100, extraRowMs: 5 }, 15),
    ).toBe(3);
  });

  it('slows no stream by more than 15 % for the drafts of others', () => {
    const hitRate = fc.double({ min: 0, max: 1, noNaN: true });
    const streams = fc.array(fc.record({ draftHitRate: hitRate, draftTokens: fc.nat({ max: 15 }) }), {
      minLength: 1,
      maxLength: 8,
    });
    const price = fc.record({
      plainMs: fc.double({ min: 10, max: 300, noNaN: true }),
      extraRowMs: fc.double({ min: 0.1, max: 60, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.array(fc.constant(undrafted), { maxLength: 2 }),
        streams,
        price,
        (idle, busy, prices) => {
          const all = [...idle, ...busy];
          const length = draftLength(all, prices, 15);
          const ms = prices.plainMs + prices.extraRowMs * length * all.length;
          if (idle.length > 0) expect(prices.plainMs / ms).toBeGreaterThanOrEqual(0.85);
          expect(all.length * (length + 1)).toBeLessThanOrEqual(Math.max(32, all.length));
        },
      ),
    );
  });

  it('drafts for one of two streams where a row is cheap enough', () => {
    expect(draftLength([stream(1), undrafted], { plainMs: 60, extraRowMs: 1 }, 15)).toBeGreaterThan(0);
    expect(draftLength([stream(1), undrafted], { plainMs: 60, extraRowMs: 10 }, 15)).toBe(0);
  });
});
