/**
 * Where sequences share cells, attention reads all cells up to the last one in use, whoever's they are: idle state slows
 * every step. Which of it stands in the way of a job that begins, and what it would cost that job. Pure.
 */
export interface Tenant {
  readonly id: number;
  readonly tokens: { readonly length: number };
  readonly busy: boolean;
  /** When it came to hold state of its own, in turns; what came later lies in higher cells, as a rule. 0: it holds none. */
  readonly filled: number;
}

/** What is to be evaluated for a job. */
export interface Work {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/** Idle tenants behind all that runs, the largest first: once they are gone, fewer cells are read. */
export function idleBehindRunning<T extends Tenant>(tenants: readonly T[], beginning: number): T[] {
  const running = tenants.filter(({ id, busy, tokens }) => busy && (id !== beginning || tokens.length > 0));
  const last = Math.max(-1, ...running.map(({ filled }) => filled));
  const idle = tenants.filter(({ busy, tokens, filled }) => !busy && tokens.length > 0 && filled > last);
  return idle.sort((a, b) => b.tokens.length - a.tokens.length);
}

/** Milliseconds that so many cells cost a job. */
export function costOfCells(cells: number, { promptTokens, answerTokens }: Work, msPerCell: number): number {
  return cells * msPerCell * (answerTokens + TILE_SHARE * promptTokens);
}

/** Measured, bench/LOG.md, "a long prompt behind an idle one": of what a cell costs a row by itself, it costs a row in a tile. */
const TILE_SHARE = 0.25;
