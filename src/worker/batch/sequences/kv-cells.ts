/** Chooses the sequences that give up KV cells when a step needs more than are free. Pure. */

/**
 * Content of a sequence. A prefix that was copied counts in each of its sequences, so sums err on the side of too much.
 */
export interface CellHolder {
  readonly id: number;
  readonly tokens: { readonly length: number };
  readonly busy: boolean;
  /** Step of the loop; larger is more recent. */
  readonly lastUsed: number;
}

/**
 * The idle sequences whose cached state makes room for `needed` more cells. First goes what is cheapest to have again by
 * the cell, and of equals what was used longest ago. Null when all of them together are not enough.
 * `tokenCost` a cell of a holder, 0 to 1: what it takes to have its state again, against evaluating it.
 */
export function evictedFor<H extends CellHolder>(
  needed: number,
  total: number,
  holders: readonly H[],
  tokenCost: (holder: H) => number = () => 1,
): number[] | null {
  let free = total - holders.reduce((sum, { tokens }) => sum + tokens.length, 0);
  if (free >= needed) return [];
  const idle = holders.filter(({ busy, tokens }) => !busy && tokens.length > 0);
  const newestFirst = idle.sort((a, b) => b.lastUsed - a.lastUsed);
  // The more recently used, the likelier a conversation continues.
  const worth = new Map(newestFirst.map((holder, rank) => [holder, tokenCost(holder) / (1 + rank)]));
  const evicted: number[] = [];
  for (const { id, tokens } of newestFirst.sort((a, b) => (worth.get(a) ?? 0) - (worth.get(b) ?? 0))) {
    if (free >= needed) break;
    evicted.push(id);
    free += tokens.length;
  }
  return free >= needed ? evicted : null;
}

/** Cells not used by running answers. */
export function cellsOutsideRunning(total: number, holders: readonly CellHolder[]): number {
  return total - holders.reduce((sum, { busy, tokens }) => sum + (busy ? tokens.length : 0), 0);
}

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
export function idleAboveRunning<T extends Tenant>(tenants: readonly T[], beginning: number): T[] {
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
