import { describe, expect, it } from 'vitest';
import { Gaps } from './gaps.ts';

/** A session that takes so long between an answer and its next request. */
function cycle(gaps: Gaps, session: string, ...pausesMs: number[]): void {
  let nowMs = 0;
  for (const ms of pausesMs) {
    gaps.ended(session, nowMs);
    nowMs += ms;
    gaps.arrived('flow', session, nowMs);
    nowMs += 5_000;
  }
}

describe('the gaps of sessions', () => {
  it('are unknown until a request followed an answer', () => {
    const gaps = new Gaps();
    gaps.arrived('flow', 's', 0);
    gaps.ended('s', 100);
    expect(gaps.expectedMs('flow', 's')).toBeNull();
    gaps.arrived('flow', 's', 400);
    expect(gaps.expectedMs('flow', 's')).toBe(300 + 4 * 150);
  });

  it('come closer to what is usual the more regular they are', () => {
    const gaps = new Gaps();
    cycle(gaps, 's', ...Array.from({ length: 30 }, () => 300));
    expect(gaps.expectedMs('flow', 's')).toBeLessThan(310);
    cycle(gaps, 's', 60_000);
    expect(gaps.expectedMs('flow', 's')).toBeGreaterThan(10_000);
  });

  it('of other sessions of a client stand for those of a new one, and count apart afterwards', () => {
    const gaps = new Gaps();
    cycle(gaps, 'one', 200, 200);
    expect(gaps.expectedMs('flow', 'new')).toBe(gaps.expectedMs('flow', 'one'));
    expect(gaps.expectedMs('other flow', 'new')).toBeNull();
    cycle(gaps, 'new', 9_000);
    expect(gaps.expectedMs('flow', 'new')).toBe(9_000 + 4 * 4_500);
  });

  it('are counted once for each answer', () => {
    const gaps = new Gaps();
    gaps.ended('s', 0);
    gaps.arrived('flow', 's', 100);
    gaps.arrived('flow', 's', 90_000);
    expect(gaps.expectedMs('flow', 's')).toBe(300);
  });

  it('are forgotten where there are too many', () => {
    const gaps = new Gaps();
    for (let id = 0; id < 3_000; id += 1) cycle(gaps, `session ${id}`, 100);
    expect(gaps.size).toBe(1_024);
  });
});
