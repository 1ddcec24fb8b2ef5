import { describe, expect, it } from 'vitest';
import { calibrate } from './calibrate.ts';

const LIMITS = { perCountMs: 40, fewestSteps: 3, totalMs: 600 };

async function run(cores: number, msOf: (threads: number) => number, share = 1) {
  let spent = 0;
  let cpu = 0;
  const probe = {
    async step(threads: number) {
      const ms = msOf(threads);
      spent += ms;
      cpu += ms * threads * share;
      return ms;
    },
    cpuMs: () => cpu,
  };
  const result = await calibrate(cores, probe, LIMITS);
  return { ...result, spent };
}

describe('calibrate', () => {
  it('keeps all cores where they are faster, and on a tie', async () => {
    expect((await run(2, (threads) => 40 / threads)).threads).toBe(2);
    expect((await run(2, () => 10)).threads).toBe(2);
  });

  it('keeps one thread for a step that is over at once, where others would not save what they may cost', async () => {
    expect((await run(2, (threads) => 1.6 / threads)).threads).toBe(1);
    expect((await run(4, (threads) => 1.6 / threads)).threads).toBe(1);
    expect((await run(2, (threads) => 2.4 / threads)).threads).toBe(2);
  });

  it('falls to one thread where more are slower, and reports what it tried', async () => {
    const { threads, tried } = await run(8, (count) => count);
    expect(threads).toBe(1);
    expect(tried.map((result) => result.threads)).toEqual([1, 2, 4, 8]);
    expect(tried[0]?.tokensPerS).toBe(1000);
  });

  it('stays within its time on a slow model and keeps all cores', async () => {
    const { threads, tried, spent } = await run(2, (count) => 1000 / count);
    expect(threads).toBe(2);
    expect(tried).toHaveLength(1);
    expect(spent).toBeLessThanOrEqual(2000);
  });

  it('gives up a thread count after the one step that shows how bad it is', async () => {
    const { threads, spent } = await run(2, (count) => (count === 2 ? 700 : 1));
    expect(threads).toBe(1);
    expect(spent).toBeLessThan(1500);
  });

  it('tells when other programs took the processor meanwhile', async () => {
    expect((await run(2, (threads) => 40 / threads)).quiet).toBe(true);
    expect((await run(2, (threads) => 40 / threads, 0.6)).quiet).toBe(false);
  });

  it('is not misled by one slow step', async () => {
    let steps = 0;
    const { threads } = await run(2, (count) => {
      if (count === 2) steps += 1;
      return count === 2 && steps === 3 ? 500 : 20 * (3 - count);
    });
    expect(threads).toBe(2);
  });

  it('tries the only count there is on one core', async () => {
    expect((await run(1, () => 5)).tried.map(({ threads }) => threads)).toEqual([1]);
  });
});
