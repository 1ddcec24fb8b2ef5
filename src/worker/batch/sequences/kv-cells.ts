/** A copied prefix counts in each of its sequences, so sums err on the high side. */
export interface CellHolder {
  readonly id: number;
  readonly tokens: { readonly length: number };
  readonly busy: boolean;
  readonly lastUsed: number;
}

/**
 * Idle sequences to evict for `needed` more cells, or null if all together are not enough. The cheapest state per
 * cell goes first, then the least recently used. `tokenCost`: cost of restoring a cell of a holder, 0 to 1, relative
 * to evaluating it.
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
  const worth = new Map(newestFirst.map((holder, rank) => [holder, tokenCost(holder) / (1 + rank)]));
  const evicted: number[] = [];
  for (const { id, tokens } of newestFirst.sort((a, b) => (worth.get(a) ?? 0) - (worth.get(b) ?? 0))) {
    if (free >= needed) break;
    evicted.push(id);
    free += tokens.length;
  }
  return free >= needed ? evicted : null;
}

export function cellsOutsideRunning(total: number, holders: readonly CellHolder[]): number {
  return total - holders.reduce((sum, { busy, tokens }) => sum + (busy ? tokens.length : 0), 0);
}

/** Finds idle state that slows a new job: its cells are read in every step. Pure. */
export interface Tenant {
  readonly id: number;
  readonly tokens: { readonly length: number };
  readonly busy: boolean;
  /** Order in which sequences got state of their own: later state is usually in higher cells. 0: none. */
  readonly filled: number;
}

export interface Work {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/**
 * Idle tenants in higher cells than all running ones, the largest first: evicting them reduces the cells that are
 * read.
 */
export function idleAboveRunning<T extends Tenant>(tenants: readonly T[], beginning: number): T[] {
  const running = tenants.filter(({ id, busy, tokens }) => busy && (id !== beginning || tokens.length > 0));
  const last = Math.max(-1, ...running.map(({ filled }) => filled));
  const idle = tenants.filter(({ busy, tokens, filled }) => !busy && tokens.length > 0 && filled > last);
  return idle.sort((a, b) => b.tokens.length - a.tokens.length);
}

export function costOfCells(cells: number, { promptTokens, answerTokens }: Work, msPerCell: number): number {
  return cells * msPerCell * (answerTokens + TILE_SHARE * promptTokens);
}

/**
 * Measured, bench/LOG.md, "a long prompt behind an idle one": cost of a cell for a row in a tile, relative to a row
 * alone.
 */
const TILE_SHARE = 0.25;
