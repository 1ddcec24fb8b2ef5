import { describe, expect, it } from 'vitest';
import { PRICES } from '../../tuning.ts';
import { CallPrices } from './call-prices.ts';

function seen(prices: CallPrices, rows: number, ms: number, { calls = 10, depth = 0 } = {}): CallPrices {
  for (let call = 0; call < calls; call += 1) prices.observe({ rows, depth, ms });
  return prices;
}

/** So much time passes in calls of one row. */
const pass = (prices: CallPrices, ms: number): CallPrices =>
  seen(prices, 1, 50, { calls: Math.ceil(ms / 50) });

describe('the price of a call', () => {
  it('is what was measured, by rows; unknown before', () => {
    const prices = seen(seen(new CallPrices(), 1, 40), 2, 64);
    expect([1, 2, 3].map((rows) => prices.price(rows))).toEqual([40, 64, null]);
  });

  it('follows a change within a few calls, and neither a slow moment nor a lucky one', () => {
    const prices = seen(new CallPrices(), 2, 60);
    seen(prices, 2, 300, { calls: 2 });
    seen(prices, 2, 20, { calls: 1 });
    expect(prices.price(2)).toBe(60);
    expect(seen(prices, 2, 90, { calls: 5 }).price(2)).toBe(90);
  });

  it('is old after a while without a call, and then one call is enough', () => {
    const prices = pass(seen(new CallPrices(), 2, 60), PRICES.forgetMs + 100);
    expect(prices.isFresh(2)).toBe(false);
    expect(prices.price(2)).toBe(60);
    prices.observe({ rows: 2, depth: 0, ms: 90 });
    expect(prices.isFresh(2)).toBe(true);
    expect(prices.price(2)).toBe(90);
  });

  it('is sure again after one call where it is the same after a while', () => {
    const old = () => pass(seen(new CallPrices(), 2, 60), PRICES.forgetMs + 100);
    expect([old().isSure(2), seen(old(), 2, 62, { calls: 1 }).isSure(2)]).toEqual([false, true]);
    expect(seen(old(), 2, 90, { calls: 1 }).isSure(2)).toBe(false);
  });

  it('changes for all numbers of rows when the machine does, until they are seen again', () => {
    const prices = seen(seen(new CallPrices(), 2, 60), 1, 40);
    seen(prices, 1, 80);
    expect(prices.changes).toBe(1);
    expect(prices.price(2)).toBeCloseTo(120);
    expect(prices.isFresh(2)).toBe(false);
    prices.observe({ rows: 2, depth: 0, ms: 70 });
    expect(prices.price(2)).toBe(70);
    expect(prices.price(1)).toBe(80);
  });

  it('leaves out what depth costs, once calls of different depth were seen', () => {
    const prices = new CallPrices();
    for (let call = 0; call < 400; call += 1) {
      const depth = (call % 40) * 100;
      prices.observe({ rows: 1 + (call % 2), depth, ms: 30 + 10 * (call % 2) + 0.02 * depth });
    }
    expect(prices.rowDepthMs).toBeCloseTo(0.02, 2);
    expect(prices.price(1)).toBeGreaterThan(27);
    expect(prices.price(1)).toBeLessThan(34);
  });

  it('takes depth for free until then, and never for a gain', () => {
    const prices = seen(seen(new CallPrices(), 1, 40), 1, 30, { depth: 900 });
    expect(prices.rowDepthMs).toBe(0);
  });
});

describe('an estimate', () => {
  it('lies between the neighbours, or beyond the last at a part of what a row cost', () => {
    const prices = seen(seen(new CallPrices(), 1, 40), 4, 70);
    expect(prices.estimate(3)).toBeCloseTo(60);
    expect(prices.estimate(5)).toBeGreaterThan(70);
    expect(prices.estimate(5)).toBeLessThan(90);
  });

  it('forgets what was dear once, or nobody would try again', () => {
    const prices = seen(seen(new CallPrices(), 1, 50), 4, 500, { calls: 2 });
    expect(prices.estimate(4)).toBe(500);
    expect(pass(prices, PRICES.forgetMs + 100).estimate(4)).toBeLessThan(150);
  });

  it('grows with the rows before anything is known', () => {
    const prices = new CallPrices();
    expect(prices.estimate(1)).toBeLessThan(prices.estimate(2));
  });
});
