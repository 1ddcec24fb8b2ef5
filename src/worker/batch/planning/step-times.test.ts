import { describe, expect, it } from 'vitest';
import { StepTimes } from './step-times.ts';

const ids = (rows: number): number[] => Array.from({ length: rows }, (_, id) => id);

function seen(times: StepTimes, rows: number, ms: number, steps = 50): void {
  for (let step = 0; step < steps; step++) times.sawStep(ids(rows), ms);
}

describe('StepTimes', () => {
  it('tells what was measured, by the number of rows', () => {
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

  it('never calls one pass as dear as the two that it replaces, even if it was measured in a slow moment', () => {
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
    times.sawStep([0, 2], 90);
    expect(times.stepMs(2)).toBe(before);
  });

  it('orders the rows of a step before it looks for gaps', () => {
    const times = new StepTimes();
    times.sawStep([2, 0, 1], 90);
    expect(times.stepMs(3)).toBeCloseTo(90, 5);
  });

  it('assumes three rows to be cheaper than four until it has seen both, so that both are tried', () => {
    expect(new StepTimes().stepMs(3)).toBeLessThan(new StepTimes().stepMs(4));
  });

  it('follows what a row behind the first one costs, and never thinks it free', () => {
    const times = new StepTimes();
    times.sawStep([0], 40);
    const assumed = times.moreMs;
    for (let i = 0; i < 20; i++) times.sawLonger(40, 7, 40 + 7 * 4);
    expect(times.moreMs).toBeCloseTo(4, 1);
    expect(assumed).toBeGreaterThan(4);
    for (let i = 0; i < 20; i++) times.sawLonger(40, 7, 10);
    expect(times.moreMs).toBeGreaterThan(0);
  });

  it('forgets that such a row was dear, or nobody would try one again, and not that it was cheap', () => {
    const after = (extraMs: number, plainSteps: number): number => {
      const times = new StepTimes();
      times.sawStep([0], 40);
      for (let i = 0; i < 20; i++) times.sawLonger(40, 1, 40 + extraMs);
      for (let i = 0; i < plainSteps; i++) times.sawStep([0], 40);
      return times.moreMs;
    };
    expect(after(80, 0)).toBeCloseTo(40, 0);
    expect(after(80, 300)).toBeLessThan(16);
    expect(after(4, 300)).toBeCloseTo(after(4, 0), 5);
  });
});
