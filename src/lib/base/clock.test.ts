import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from './clock.ts';

const dayMs = 86_400_000;

/** The timers of the test run know the same longest delay as those of Node. */
describe('systemClock.after', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([1, 20_000, 30 * dayMs, 400 * dayMs])('calls back once after %d ms, and not before', (delayMs) => {
    const callback = vi.fn();
    systemClock.after(delayMs, callback);
    vi.advanceTimersByTime(delayMs - 1);
    expect(callback).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(1);
    vi.advanceTimersByTime(800 * dayMs);
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it('can be cancelled in any piece of a long wait', () => {
    const callback = vi.fn();
    const cancel = systemClock.after(100 * dayMs, callback);
    vi.advanceTimersByTime(60 * dayMs);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('sets no timer for a wait without end', () => {
    const cancel = systemClock.after(Infinity, vi.fn());
    expect(vi.getTimerCount()).toBe(0);
    cancel();
  });
});
