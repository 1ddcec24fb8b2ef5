import { describe, expect, it } from 'vitest';
import { Prospects } from './prospects.ts';

/** Prompts of 2,000 tokens that take eight seconds to read, and a copy of their state a sixth of one. */
const TOKENS = 2_000;
const isWorth = (prospects: Prospects): boolean => prospects.isWorth(160, 8_000);

function copies(prospects: Prospects, prompts: number, comesBack: boolean): number {
  let made = 0;
  for (let i = 0; i < prompts; i += 1) {
    if (!isWorth(prospects)) continue;
    made += 1;
    prospects.kept(TOKENS);
    if (comesBack) prospects.reused(TOKENS);
  }
  return made;
}

describe('the prospects of a copy', () => {
  it('are good at first, and stay so while states come back', () => {
    expect(copies(new Prospects(), 200, true)).toBe(200);
  });

  it('fade where nothing repeats, to a trial now and then', () => {
    const prospects = new Prospects();
    copies(prospects, 200, false);
    expect(copies(prospects, 80, false)).toBe(20);
  });

  it('fade the sooner, and are tried the less, the dearer a copy is', () => {
    const dear = (prospects: Prospects, prompts: number): number => {
      let made = 0;
      for (let i = 0; i < prompts; i += 1) {
        if (!prospects.isWorth(100, 1_000)) continue;
        made += 1;
        prospects.kept(200);
      }
      return made;
    };
    const prospects = new Prospects();
    expect(dear(prospects, 20)).toBeLessThanOrEqual(12);
    expect(dear(prospects, 200)).toBeLessThanOrEqual(10);
  });

  it('come back with the first states that do', () => {
    const prospects = new Prospects();
    copies(prospects, 200, false);
    copies(prospects, 60, true);
    expect(copies(prospects, 20, true)).toBeGreaterThan(15);
  });

  it('are none where reading anew is no dearer', () => {
    expect(new Prospects().isWorth(100, 90)).toBe(false);
  });
});
