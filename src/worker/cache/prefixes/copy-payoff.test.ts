import { describe, expect, it } from 'vitest';
import { CopyPayoff } from './copy-payoff.ts';

/** Prompts of 2,000 tokens that take eight seconds to read, and a copy of their state a sixth of one. */
const TOKENS = 2_000;
const isWorth = (payoff: CopyPayoff): boolean => payoff.isWorth(160, 8_000);

function copies(payoff: CopyPayoff, prompts: number, comesBack: boolean): number {
  let made = 0;
  for (let i = 0; i < prompts; i += 1) {
    if (!isWorth(payoff)) continue;
    made += 1;
    payoff.kept(TOKENS);
    if (comesBack) payoff.reused(TOKENS);
  }
  return made;
}

describe('the prospects of a copy', () => {
  it('are good at first, and stay so while states come back', () => {
    expect(copies(new CopyPayoff(), 200, true)).toBe(200);
  });

  it('fade where nothing repeats, to a trial now and then', () => {
    const payoff = new CopyPayoff();
    copies(payoff, 200, false);
    expect(copies(payoff, 80, false)).toBe(20);
  });

  it('fade the sooner, and are tried the less, the dearer a copy is', () => {
    const dear = (payoff: CopyPayoff, prompts: number): number => {
      let made = 0;
      for (let i = 0; i < prompts; i += 1) {
        if (!payoff.isWorth(100, 1_000)) continue;
        made += 1;
        payoff.kept(200);
      }
      return made;
    };
    const payoff = new CopyPayoff();
    expect(dear(payoff, 20)).toBeLessThanOrEqual(12);
    expect(dear(payoff, 200)).toBeLessThanOrEqual(10);
  });

  it('come back with the first states that do', () => {
    const payoff = new CopyPayoff();
    copies(payoff, 200, false);
    copies(payoff, 60, true);
    expect(copies(payoff, 20, true)).toBeGreaterThan(15);
  });

  it('are none where reading anew is no dearer', () => {
    expect(new CopyPayoff().isWorth(100, 90)).toBe(false);
  });
});
