/** Which sequences give up KV cells when sequences share them and a step needs more than are free. Pure. */

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
export function cellsBesideRunning(total: number, holders: readonly CellHolder[]): number {
  return total - holders.reduce((sum, { busy, tokens }) => sum + (busy ? tokens.length : 0), 0);
}
