import { describe, expect, it } from 'vitest';
import { ChunkSize } from './chunk-size.ts';

const LIMITS = { smallest: 16, largest: 256, gapMs: 250, gapSteps: 2, idleMs: 1000 };

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

  it('keeps a step beside decoding streams within the gap', () => {
    const budget = measured(4, 40).budget(2);
    expect(40 + budget * 4).toBeLessThanOrEqual(250);
    expect(40 + budget * 4).toBeGreaterThan(200);
  });

  it('allows twice a plain step where that is more', () => {
    const budget = measured(10, 400).budget(2);
    expect(budget).toBe(40);
  });

  it('bounds idle steps by time, and all by the batch', () => {
    expect(measured(10, 40).budget(0)).toBe(100);
    expect(measured(0.01, 1).budget(0)).toBe(256);
    expect(measured(500, 40).budget(3)).toBe(16);
  });
});
