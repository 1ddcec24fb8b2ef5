/**
 * Finds idle state that slows a new job: idle state slows every step. Which of it stands in the way of a job that
 * begins, and what it would cost that job. Pure.
 */
export interface Tenant {
  readonly id: number;
  readonly tokens: { readonly length: number };
  readonly busy: boolean;
  /** When it came to hold state of its own, in turns; what came later lies in higher cells, as a rule. 0: it holds none. */
  readonly filled: number;
}

/** Tokens to evaluate for a job. */
export interface Work {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/**
 * Idle tenants in higher cells than all running ones, the largest first: evicting them reduces the cells that are read.
 */
export function idleBehindRunning<T extends Tenant>(tenants: readonly T[], beginning: number): T[] {
  const running = tenants.filter(({ id, busy, tokens }) => busy && (id !== beginning || tokens.length > 0));
  const last = Math.max(-1, ...running.map(({ filled }) => filled));
  const idle = tenants.filter(({ busy, tokens, filled }) => !busy && tokens.length > 0 && filled > last);
  return idle.sort((a, b) => b.tokens.length - a.tokens.length);
}

/** Milliseconds that this number of cells costs a job. */
export function costOfCells(cells: number, { promptTokens, answerTokens }: Work, msPerCell: number): number {
  return cells * msPerCell * (answerTokens + TILE_SHARE * promptTokens);
}

/** Measured, bench/LOG.md, "a long prompt behind an idle one": of what a cell costs a row by itself, it costs a row in a tile. */
const TILE_SHARE = 0.25;
