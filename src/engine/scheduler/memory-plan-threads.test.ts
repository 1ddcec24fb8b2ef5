import { describe, expect, it } from 'vitest';
import type { ModelTarget } from '../ports.ts';
import type { LoadedFacts } from '../../contract/load.ts';
import { measuredOf } from './memory-plan.ts';

const target = { weightsBytes: 1 } as unknown as ModelTarget;
const facts = (threads: number, calibrated: boolean) =>
  ({
    threads,
    calibration: calibrated ? [{ threads, tokensPerS: 1 }] : [],
    residentBytes: 2,
    contextBytes: 1,
    numCtx: 1,
    sequences: 1,
  }) as unknown as LoadedFacts;

describe('the remembered thread count', () => {
  it('comes from a calibration', () => {
    expect(measuredOf(facts(2, true), target, null).threads).toBe(2);
  });

  it('is not taken from a load that was pinned or disturbed', () => {
    expect(measuredOf(facts(1, false), target, null).threads).toBeNull();
  });

  it('survives a load that measured nothing', () => {
    const before = measuredOf(facts(2, true), target, null);
    expect(measuredOf(facts(1, false), target, before).threads).toBe(2);
  });
});
