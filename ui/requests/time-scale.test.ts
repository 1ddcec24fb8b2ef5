import { describe, expect, it } from 'vitest';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { partsOf, timeScale } from './time-scale.ts';

const request = (more: Partial<RequestView>): RequestView => ({ total_ms: 0, ...more }) as RequestView;

describe('the scale of time', () => {
  it('is one for all requests: longer ones are wider, and each tick is ten times the last', () => {
    const scale = timeScale([{ total_ms: 40 }, { total_ms: 30_000 }]);
    expect(scale.shareOf(30_000)).toBe(1);
    expect(scale.shareOf(40)).toBeLessThan(0.5);
    expect(scale.shareOf(40)).toBeGreaterThan(scale.shareOf(20));
    expect(scale.ticksMs).toEqual([10, 100, 1000, 10_000]);
  });
});

describe('the stages of a request', () => {
  it('leave time that none of them accounts for, as of one that was stopped', () => {
    const parts = partsOf(request({ queue_ms: 7590, total_ms: 30_511 }));
    expect(parts.find(({ name }) => name === 'waited')?.share).toBeCloseTo(7590 / 30_511, 5);
    expect(parts.find(({ name }) => name === 'other')?.ms).toBe(30_511 - 7590);
    expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
  });
});
