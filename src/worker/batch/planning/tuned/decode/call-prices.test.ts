import { beforeEach, describe, expect, it } from 'vitest';
import { PRICES } from '../../tuning.ts';
import { CallPrices } from './call-prices.ts';

let prices: CallPrices;
beforeEach(() => {
  prices = new CallPrices();
});

function observe(rows: number, ms: number, times = 1): void {
  for (let i = 0; i < times; i += 1) prices.observe(rows, ms);
}

describe('the price of a call', () => {
  it('counts in calls of one row until one was seen', () => {
    expect(prices.rowMs).toBeNull();
    expect(prices.estimate(1)).toBe(1);
    expect(prices.estimate(3)).toBeCloseTo(1 + 2 * PRICES.assumedExtraRow);
  });

  it('is what was seen, a line between neighbours, and an assumed row more beyond them', () => {
    observe(2, 50);
    observe(6, 70);
    expect(prices.rowMs).toBeNull();
    expect([1, 2, 3, 4, 6].map((rows) => prices.estimate(rows))).toEqual([50, 50, 55, 60, 70]);
    expect(prices.estimate(9)).toBeCloseTo(70 * (1 + PRICES.assumedExtraRow / 2));
  });

  it('follows what calls take, down sooner than up', () => {
    observe(1, 40);
    observe(1, 100);
    expect(prices.rowMs).toBeLessThan(70);
    observe(1, 40, 3);
    expect(prices.rowMs).toBeLessThan(41);
    observe(1, 80, 20);
    expect(prices.rowMs).toBeGreaterThan(78);
  });

  it('is forgotten where it was not seen for long, but for the price of one row', () => {
    observe(1, 40);
    observe(8, 400);
    observe(2, 50, PRICES.forgottenAfter - 1);
    expect(prices.estimate(8)).toBe(400);
    observe(2, 50);
    expect(prices.estimate(8)).toBeCloseTo(50 * (1 + 3 * PRICES.assumedExtraRow));
    expect(prices.rowMs).toBe(40);
  });
});
