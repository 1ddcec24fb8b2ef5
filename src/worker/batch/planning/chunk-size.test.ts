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
    chunk.sawPrefill(64, 64 * msPerToken);
  }
  return chunk;
}

describe('chunk size', () => {
  it('begins small while nothing is known, smaller still beside a decoding stream', () => {
    const chunk = new ChunkSize(LIMITS);
    expect(chunk.budget(true)).toBeLessThan(chunk.budget(false));
    expect(chunk.budget(false)).toBeLessThanOrEqual(128);
  });

  it('begins with a few rows where a plain step is very slow, and as ever where it is not', () => {
    const first = (plainMs: number): number => {
      const chunk = new ChunkSize(LIMITS);
      chunk.sawPlainStep(plainMs);
      return chunk.budget(false);
    };
    expect([40, 250, 5_000].map(first)).toEqual([128, 40, 16]);
  });

  it('keeps a step beside decoding streams within the gap, in whole tiles', () => {
    expect(measured(1, 40).budget(true)).toBe(192);
    expect(measured(0.01, 40).budget(true)).toBe(512);
  });

  it('takes a whole tile for a somewhat longer gap, and less only where that would be far too long', () => {
    expect(measured(10, 40).budget(true)).toBe(64);
    expect(measured(12, 40).budget(true)).toBe(17);
    expect(measured(500, 40).budget(true)).toBe(16);
  });

  it('allows twice a plain step where that is more', () => {
    expect(measured(15, 600).budget(true)).toBe(40);
  });

  it('bounds idle steps by time, and all by the batch', () => {
    expect(measured(10, 40).budget(false)).toBe(64);
    expect(measured(3, 40).budget(false)).toBe(320);
    expect(measured(0.01, 1).budget(false)).toBe(512);
  });

  it('recovers from a first prompt that was slow by chance', () => {
    const chunk = new ChunkSize(LIMITS);
    chunk.sawPlainStep(40);
    chunk.sawPrefill(58, 1795);
    for (let i = 0; i < 5; i++) chunk.sawPrefill(chunk.budget(true), 3 * chunk.budget(true));
    expect(chunk.budget(true)).toBe(64);
    expect(chunk.budget(false)).toBeGreaterThanOrEqual(256);
  });
});
