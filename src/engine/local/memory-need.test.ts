import { describe, expect, it } from 'vitest';
import { measuredOf } from './memory-need.ts';

const source = { weightsBytes: 1 };
const facts = (threads: number, calibrated: boolean) => ({
  threads,
  calibration: calibrated ? [{ threads, tokensPerS: 1 }] : [],
  residentBytes: 2,
  contextBytes: 1,
  numCtx: 1,
  sequences: 1,
});

describe('the remembered thread count', () => {
  it('comes from a calibration', () => {
    expect(measuredOf(facts(2, true), source, null).threads).toBe(2);
  });

  it('is not taken from a load that was pinned or disturbed', () => {
    expect(measuredOf(facts(1, false), source, null).threads).toBeNull();
  });

  it('survives a load that measured nothing', () => {
    const before = measuredOf(facts(2, true), source, null);
    expect(measuredOf(facts(1, false), source, before).threads).toBe(2);
  });
});
