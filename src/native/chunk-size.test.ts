import { describe, expect, it } from 'vitest';
import { ChunkSize } from './chunk-size.ts';

const LIMITS = {
  smallest: 16,
  largest: 512,
  gapMs: 250,
  gapSteps: 2,
  tileGapMs: 750,
  idleMs: 1000,
  firstMs: 10_000,
};

function measured(msPerToken: number, plainMs: number): ChunkSize {
  const chunk = new ChunkSize(LIMITS);
  for (let i = 0; i < 30; i++) {
    chunk.sawPlainStep(plainMs);
    chunk.sawPrefill(64, plainMs + 64 * msPerToken, 2);
  }
  return chunk;
}

describe('chunk size', () => {
  it('begins small while nothing is known, smaller still beside a decoding stream', () => {
    const chunk = new ChunkSize(LIMITS);
    expect(chunk.budget(1)).toBeLessThan(chunk.budget(0));
    expect(chunk.budget(0)).toBeLessThanOrEqual(128);
  });

  it('begins with a few rows where a plain step is very slow, and as ever where it is not', () => {
    const first = (plainMs: number): number => {
      const chunk = new ChunkSize(LIMITS);
      chunk.sawPlainStep(plainMs);
      return chunk.budget(0);
    };
    expect([40, 250, 5_000].map(first)).toEqual([128, 40, 16]);
  });

  it('keeps a step beside decoding streams within the gap, in whole tiles', () => {
    expect(measured(1, 40).budget(2)).toBe(192);
    expect(measured(0.01, 40).budget(2)).toBe(448);
    for (const decoding of [1, 63, 256]) {
      expect(measured(0.01, 40).budget(decoding) + 1 + decoding).toBeLessThanOrEqual(LIMITS.largest);
    }
  });

  it('takes a whole tile for a somewhat longer gap, and less only where that would be far too long', () => {
    expect(measured(10, 40).budget(2)).toBe(64);
    expect(measured(12, 40).budget(2)).toBe(17);
    expect(measured(500, 40).budget(3)).toBe(16);
  });

  it('allows twice a plain step where that is more', () => {
    expect(measured(15, 600).budget(2)).toBe(40);
  });

  it('bounds idle steps by time, and all by the batch', () => {
    expect(measured(10, 40).budget(0)).toBe(64);
    expect(measured(3, 40).budget(0)).toBe(320);
    expect(measured(0.01, 1).budget(0)).toBe(512);
  });

  it('recovers from a first prompt that was slow by chance', () => {
    const chunk = new ChunkSize(LIMITS);
    chunk.sawPlainStep(40);
    chunk.sawPrefill(58, 1795, 0);
    for (let i = 0; i < 5; i++) chunk.sawPrefill(chunk.budget(1), 40 + 3 * chunk.budget(1), 1);
    expect(chunk.budget(1)).toBe(64);
    expect(chunk.budget(0)).toBeGreaterThanOrEqual(256);
  });
});
