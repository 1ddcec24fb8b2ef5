import { describe, expect, it } from 'vitest';
import { Turnstile } from './turnstile.ts';

describe('Turnstile', () => {
  it('lets one pass at a time, in order, and survives a failure', async () => {
    const turnstile = new Turnstile();
    turnstile.oneAtATime = true;
    const log: string[] = [];
    const work =
      (name: string, fails = false) =>
      async () => {
        log.push(`${name} begins`);
        await Promise.resolve();
        await Promise.resolve();
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
      };
    const all = [turnstile.pass(work('a')), turnstile.pass(work('b', true)), turnstile.pass(work('c'))];
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('lets all pass at once where the cores suffice', async () => {
    const turnstile = new Turnstile();
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    const passAll = () => Promise.all([work, work, work].map((each) => turnstile.pass(each)));
    turnstile.oneAtATime = true;
    await passAll();
    expect(most).toBe(1);
    turnstile.oneAtATime = false;
    await passAll();
    expect(most).toBe(3);
  });
});
