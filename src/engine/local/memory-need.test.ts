import { describe, expect, it } from 'vitest';
import { measuredOf } from './memory-need.ts';

const facts = (threads: number, calibrated: boolean) => ({
  threads,
  calibration: calibrated ? [{ threads, tokensPerS: 1 }] : [],
});

describe('the remembered thread count', () => {
  it('comes from a calibration', () => {
    expect(measuredOf(facts(2, true), null, null).threads).toBe(2);
  });

  it('is not taken from a load that was pinned or disturbed', () => {
    expect(measuredOf(facts(1, false), null, null).threads).toBeNull();
  });

  it('survives a load that measured nothing', () => {
    const before = measuredOf(facts(2, true), null, null);
    expect(measuredOf(facts(1, false), null, before).threads).toBe(2);
  });
});
