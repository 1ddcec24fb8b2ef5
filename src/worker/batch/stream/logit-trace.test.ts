import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LogitTrace } from './logit-trace.ts';

const step = (token: number, first: number, second: number) =>
  [token, { first: { token, logit: first }, second: { token: 0, logit: second } }] as const;

describe('trace', () => {
  it('chains token and both logits of each step, as documented', () => {
    const trace = new LogitTrace();
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
    const trace = new LogitTrace();
    expect(trace.minMargin).toBeNull();
    trace.add(...step(1, 3, Number.NEGATIVE_INFINITY));
    expect(trace.minMargin).toBeNull();
    trace.add(...step(1, 3, 1));
    trace.add(...step(1, 3, 2.5));
    trace.add(...step(1, 3, 0));
    expect(trace.minMargin).toBe(0.5);
  });
});
