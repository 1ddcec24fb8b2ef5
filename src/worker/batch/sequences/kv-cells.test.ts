import { describe, expect, it } from 'vitest';
import { type CellHolder, cellsBesideRunning, evictedFor } from './kv-cells.ts';

const holder = (id: number, length: number, busy = false, lastUsed = id): CellHolder => ({
  id,
  tokens: { length },
  busy,
  lastUsed,
});

describe('cells that sequences share', () => {
  it('need no eviction while enough are free', () => {
    expect(evictedFor(10, 100, [holder(0, 50, true), holder(1, 40)])).toEqual([]);
  });

  it('come from the idle sequence that was used longest ago', () => {
    const holders = [holder(0, 30, true), holder(1, 30, false, 9), holder(2, 30, false, 4)];
    expect(evictedFor(20, 100, holders)).toEqual([2]);
    expect(evictedFor(60, 100, holders)).toEqual([2, 1]);
  });

  it('come first from state that is cheap to have again', () => {
    const holders = [holder(0, 30, true), holder(1, 30, false, 9), holder(2, 30, false, 4)];
    const kept = (cheap: number) => (each: CellHolder) => (each.id === cheap ? 0.1 : 1);
    expect(evictedFor(20, 100, holders, kept(1))).toEqual([1]);
    expect(evictedFor(20, 100, holders, kept(2))).toEqual([2]);
  });

  it('are never taken from a running answer', () => {
    expect(evictedFor(41, 100, [holder(0, 60, true), holder(1, 30)])).toBeNull();
    expect(evictedFor(40, 100, [holder(0, 60, true), holder(1, 30)])).toEqual([1]);
  });

  it('leave for a new prompt what running answers do not hold', () => {
    expect(cellsBesideRunning(100, [holder(0, 60, true), holder(1, 30)])).toBe(40);
  });
});
