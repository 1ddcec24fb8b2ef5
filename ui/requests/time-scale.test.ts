import { describe, expect, it } from 'vitest';
import type { RequestView } from '../../src/wire/operation/requests.ts';
import { partsOf, timeLine, timeScale } from './time-scale.ts';

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

describe('the line of time', () => {
  it('is one for all: what ran at once lies below each other, and what was before it is not on it', () => {
    const at = (started: number, total: number) => ({ started_ms: 1_000_000 + started, total_ms: total });
    const rows = [at(59_000, 1000), at(30_000, 30_000), ...Array.from({ length: 10 }, () => at(45_000, 15))];
    const line = timeLine([...rows, at(-100_000, 10), at(-1, 2000)]);
    expect(line.place(rows[1] as never)).toEqual({ left: 0.5, width: 0.5 });
    expect(line.place(rows[0] as never)?.left).toBeCloseTo(59 / 60, 9);
    expect(line.place(at(-100_000, 10))).toBeNull();
    // An earlier start is cut at its beginning.
    expect(line.place(at(-1, 2001))).toEqual({ left: 0, width: 2000 / 60_000 });
    expect(line.ticks.map(({ agoMs }) => agoMs)).toEqual([60_000, 45_000, 30_000, 15_000]);
    expect(timeLine([]).place(at(0, 0))).not.toBeUndefined();
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
