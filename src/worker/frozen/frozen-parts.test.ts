import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { windowFor } from './frozen-context.ts';
import { FrozenTrace } from './trace.ts';
import { evaluateInTurns, Turns } from './frozen-turns.ts';
import type { NativeContext } from '../addon/native.ts';

const step = (token: number, first: number, second: number) =>
  [token, { first: { token, logit: first }, second: { token: 0, logit: second } }] as const;

describe('trace', () => {
  it('chains token and both logits of each step, as documented', () => {
    const trace = new FrozenTrace();
    trace.add(...step(70_000, 1.5, -0.25));
    trace.add(...step(3, 2, 1));
    // 70000 and 3 as u32, 1.5, -0.25, 2 and 1 as f32, all little-endian.
    const steps = ['70 11 01 00  00 00 c0 3f  00 00 80 be', '03 00 00 00  00 00 00 40  00 00 80 3f'];
    const chain = steps.reduce(
      (digest, hex) =>
        createHash('sha256')
          .update(digest)
          .update(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
          .digest(),
      Buffer.alloc(32) as Buffer,
    );
    expect(trace.sha256).toBe(chain.toString('hex'));
  });

  it('keeps the smallest gap, and has none without a second candidate', () => {
    const trace = new FrozenTrace();
    expect(trace.minMargin).toBeNull();
    trace.add(...step(1, 3, Number.NEGATIVE_INFINITY));
    expect(trace.minMargin).toBeNull();
    trace.add(...step(1, 3, 1));
    trace.add(...step(1, 3, 2.5));
    trace.add(...step(1, 3, 0));
    expect(trace.minMargin).toBe(0.5);
  });
});

describe('window', () => {
  it.each([
    [1, 4096, 1024],
    [1024, 4096, 1024],
    [1025, 4096, 2048],
    [4097, 40_960, 8192],
    [33_000, 40_960, 40_960],
    [200, 512, 512],
    [200, 300, 512],
  ])('of %i tokens in a model of %i is %i', (tokens, model, window) => {
    expect(windowFor(tokens, model)).toBe(window);
  });
});

describe('turns', () => {
  it('never overlap, keep their order, and survive a failure', async () => {
    const turns = new Turns();
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
    const all = [turns.take(work('a')), turns.take(work('b', true)), turns.take(work('c'))];
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('are taken only while they are needed', async () => {
    const turns = new Turns();
    let running = 0;
    let most = 0;
    class Context {
      async decodeBatch(): Promise<void> {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      }
    }
    Object.defineProperty(Context.prototype, 'decodeBatch', { writable: false });
    const [a, b] = [new Context() as NativeContext, new Context() as NativeContext];
    let isNeeded = true;
    for (const context of [a, b]) evaluateInTurns(context, turns, () => isNeeded);
    await Promise.all([a.decodeBatch(), b.decodeBatch(), a.decodeBatch()]);
    expect(most).toBe(1);
    isNeeded = false;
    await Promise.all([a.decodeBatch(), b.decodeBatch()]);
    expect(most).toBe(2);
  });
});
