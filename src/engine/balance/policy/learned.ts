/**
 * What is learned of the time to an upstream's first token: a moving average of what was seen. It fades while nothing
 * is seen, so that an upstream that was slow once is tried again.
 */
import type { BalanceLimits } from '../limits.ts';

export interface Learned {
  readonly firstTokenMs: number;
  readonly atMs: number;
}

/** The weight of a new observation against all earlier ones. */
const WEIGHT = 0.2;

export function learn(before: Learned | null, firstTokenMs: number, nowMs: number): Learned {
  const mean =
    before === null ? firstTokenMs : before.firstTokenMs + WEIGHT * (firstTokenMs - before.firstTokenMs);
  return { firstTokenMs: mean, atMs: nowMs };
}

/** What it counts for now, milliseconds; null: nothing was seen yet. */
export function expectedMs(
  learned: Learned | null,
  nowMs: number,
  { learnedHalfLifeMs }: Pick<BalanceLimits, 'learnedHalfLifeMs'>,
): number | null {
  if (learned === null) return null;
  return learned.firstTokenMs * 0.5 ** (Math.max(0, nowMs - learned.atMs) / learnedHalfLifeMs);
}

/** How many requests came lately. */
export interface Recent {
  readonly count: number;
  readonly atMs: number;
}

export const NONE_RECENT: Recent = { count: 0, atMs: 0 };

export function recentCount(
  { count, atMs }: Recent,
  nowMs: number,
  { recentHalfLifeMs }: Pick<BalanceLimits, 'recentHalfLifeMs'>,
): number {
  return count === 0 ? 0 : count * 0.5 ** (Math.max(0, nowMs - atMs) / recentHalfLifeMs);
}
