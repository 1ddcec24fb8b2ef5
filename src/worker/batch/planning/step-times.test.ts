import { describe, expect, it } from 'vitest';
import { StepTimes } from './step-times.ts';

const ids = (rows: number): number[] => Array.from({ length: rows }, (_, id) => id);

function seen(times: StepTimes, rows: number, ms: number, steps = 50): void {
  for (let step = 0; step < steps; step += 1) times.observe(ids(rows), ms);
}

describe('StepTimes', () => {
  it('returns what was measured, by the number of rows', () => {
    const times = new StepTimes();
    seen(times, 1, 40);
    seen(times, 2, 64);
    seen(times, 1, 40);
    expect(times.stepMs(1)).toBeCloseTo(40, 0);
    expect(times.stepMs(2)).toBeCloseTo(64, 0);
    expect(times.stepMs(0)).toBe(0);
  });

  it('carries a change of speed over to numbers of rows that were not seen since', () => {
    const times = new StepTimes();
    seen(times, 1, 40);
    seen(times, 2, 60);
    seen(times, 1, 80);
    expect(times.stepMs(2)).toBeGreaterThan(105);
    expect(times.stepMs(2)).toBeLessThan(135);
  });

  it('never lets one pass cost as much as the two that it replaces, even if it was measured in a slow moment', () => {
    const times = new StepTimes();
    seen(times, 1, 40);
    seen(times, 2, 120, 1);
    seen(times, 3, 500, 1);
    expect(times.stepMs(2)).toBeLessThan(2 * times.stepMs(1));
    expect(times.stepMs(3)).toBeLessThan(times.stepMs(1) + times.stepMs(2));
  });

  it('never calls more rows cheaper than one, even if one was only seen deep in a context', () => {
    const times = new StepTimes();
    seen(times, 1, 83);
    seen(times, 4, 70, 1);
    expect(times.stepMs(4)).toBeGreaterThan(times.stepMs(1));
  });

  it('recovers from a first sample that was far too slow', () => {
    const times = new StepTimes();
    seen(times, 1, 40);
    seen(times, 2, 120, 1);
    seen(times, 2, 60, 100);
    expect(times.stepMs(2)).toBeCloseTo(60, 0);
    expect(times.stepMs(1)).toBeGreaterThan(30);
  });

  it('learns nothing from ids that lie apart, which were several passes', () => {
    const times = new StepTimes();
    seen(times, 1, 40);
    const before = times.stepMs(2);
    times.observe([0, 2], 90);
    expect(times.stepMs(2)).toBe(before);
  });

  it('orders the rows of a step before it looks for gaps', () => {
    const times = new StepTimes();
    times.observe([2, 0, 1], 90);
    expect(times.stepMs(3)).toBeCloseTo(90, 5);
  });

  it('assumes three rows to be cheaper than four until it has seen both, so that both are tried', () => {
    expect(new StepTimes().stepMs(3)).toBeLessThan(new StepTimes().stepMs(4));
  });

  it('follows what a row after the first one costs, and never takes it for free', () => {
    const times = new StepTimes();
    times.observe([0], 40);
    const assumed = times.extraRowMs;
    for (let i = 0; i < 20; i += 1) times.observeExtraRows({ plainMs: 40, rows: 7, ms: 40 + 7 * 4 });
    expect(times.extraRowMs).toBeCloseTo(4, 1);
    expect(assumed).toBeGreaterThan(4);
    for (let i = 0; i < 20; i += 1) times.observeExtraRows({ plainMs: 40, rows: 7, ms: 10 });
    expect(times.extraRowMs).toBeGreaterThan(0);
  });

  it('forgets that such a row was slow, or none would be tried again, and not that it was fast', () => {
    const after = (extraMs: number, plainSteps: number): number => {
      const times = new StepTimes();
      times.observe([0], 40);
      for (let i = 0; i < 20; i += 1) times.observeExtraRows({ plainMs: 40, rows: 1, ms: 40 + extraMs });
      for (let i = 0; i < plainSteps; i += 1) times.observe([0], 40);
      return times.extraRowMs;
    };
    expect(after(80, 0)).toBeCloseTo(40, 0);
    expect(after(80, 300)).toBeLessThan(16);
    expect(after(4, 300)).toBeCloseTo(after(4, 0), 5);
  });
});
