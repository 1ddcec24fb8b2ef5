import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SLOT_REPORT_MS, UNWATCHED_REPORT_MS } from '../contract/slots.ts';
import { SlotWatch } from './slot-watch.ts';

describe('what the slots do', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watched() {
    let reportCount = 0;
    let nowMs = 0;
    const watch = new SlotWatch(
      () => [],
      () => {
        reportCount += 1;
      },
      () => nowMs,
    );
    const rests = (ms: number): void => {
      nowMs += ms;
      watch.afterNativeCall();
    };
    return { watch, rests, reportCount: () => reportCount };
  }

  it('is told at once and a few times a second while somebody watches, and at the end', () => {
    const { watch, rests, reportCount } = watched();
    watch.watch(true);
    expect(reportCount()).toBe(1);
    rests(SLOT_REPORT_MS - 1);
    expect(reportCount()).toBe(1);
    rests(1);
    watch.atEnd();
    expect(reportCount()).toBe(3);
  });

  it('is told once, some time after it changed, while nobody does', () => {
    const { watch, rests, reportCount } = watched();
    rests(10_000);
    rests(10_000);
    watch.atEnd();
    expect(reportCount()).toBe(0);
    vi.advanceTimersByTime(UNWATCHED_REPORT_MS);
    expect(reportCount()).toBe(1);
    vi.advanceTimersByTime(10 * UNWATCHED_REPORT_MS);
    expect(reportCount()).toBe(1);
    rests(1);
    vi.advanceTimersByTime(UNWATCHED_REPORT_MS);
    expect(reportCount()).toBe(2);
  });
});
