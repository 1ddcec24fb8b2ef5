import { describe, expect, it } from 'vitest';
import { TRIALS } from '../../tuning.ts';
import { CallPrices } from './call-prices.ts';
import type { Place, Way } from './decode-ways.ts';
import { WayChoice } from './way-choice.ts';

const rows = (count: number): Place[] => Array.from({ length: count }, () => ({ kind: 'row', idleMs: 0 }));
const sizesOf = ({ spans }: Way): number[] => spans.map((span) => span.rows);

interface Rig {
  readonly prices: CallPrices;
  readonly ways: WayChoice;
  /** Chooses and carries out so many steps; the calls of each. */
  run(places: readonly Place[], steps: number, mayTry?: boolean): number[][];
}

function rig(ms: readonly number[]): Rig {
  const prices = new CallPrices();
  const ways = new WayChoice(prices);
  const run = (places: readonly Place[], steps: number, mayTry = true): number[][] =>
    Array.from({ length: steps }, () => {
      const sizes = sizesOf(ways.choose(places, { mayTry }));
      for (const size of sizes) {
        prices.observe({ rows: size, depth: 0, ms: ms[size] ?? 0 });
        ways.observe(ms[size] ?? 0);
      }
      return sizes;
    });
  return { prices, ways, run };
}

describe('the way of decode rows', () => {
  it('is all together until something is known', () => {
    expect(sizesOf(rig([]).ways.choose(rows(4), { mayTry: true }))).toEqual([4]);
  });

  it('is tried apart soon, and stays so where that is cheaper', () => {
    const [first, second, ...later] = rig([0, 25, 75]).run(rows(2), 40);
    expect([first, second]).toEqual([[2], [1, 1]]);
    // What was seen once is looked at a second time.
    expect(later.filter((sizes) => sizes.length === 1)).toHaveLength(1);
  });

  it('comes back from a trial that lost', () => {
    const steps = rig([0, 43, 73]).run(rows(2), 50);
    expect(steps.filter((sizes) => sizes.length === 2).length).toBe(2);
  });

  it('is not tried while somebody waits', () => {
    const steps = rig([0, 25, 75]).run(rows(2), 20, false);
    expect(steps.every((sizes) => sizes.length === 1)).toBe(true);
  });

  it('is not all together where fewer rows cost too much already', () => {
    const { run, ways } = rig([0, 10, 75]);
    run(rows(2), 3);
    expect(sizesOf(ways.choose(rows(4), { mayTry: false }))).toEqual([1, 1, 1, 1]);
  });

  it('loses no more to trials than their share, however bad they are', () => {
    const ms = [0, 90, 400, 400, 400, 400, 400, 400, 100];
    const { run } = rig(ms);
    const steps = run(rows(8), 2_000);
    const spent = steps.flat().reduce((sum, size) => sum + (ms[size] ?? 0), 0);
    const lost = spent - 100 * steps.length;
    // A trial may turn out worse than it was reckoned, once for each number of rows.
    expect(lost).toBeLessThanOrEqual(spent * TRIALS.share + 100 * TRIALS.firstCredit + 4 * 400);
  });
});
