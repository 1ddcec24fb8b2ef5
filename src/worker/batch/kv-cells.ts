/** Who gives up KV cells when sequences share them and a step needs more than are free. Pure. */

/** What a sequence holds. A prefix that was copied counts in each of its sequences, so sums err on the side of too much. */
export interface CellHolder {
  readonly id: number;
  readonly tokens: { readonly length: number };
  readonly busy: boolean;
  /** Step of the loop; larger is more recent. */
  readonly lastUsed: number;
}

/**
 * The idle sequences whose cached state makes room for `needed` more cells, those used longest ago first. Null when all
 * of them together are not enough.
 */
export function evictedFor(needed: number, total: number, holders: readonly CellHolder[]): number[] | null {
  let free = total - holders.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const idle = holders.filter(({ busy, tokens }) => !busy && tokens.length > 0);
  const evicted: number[] = [];
  for (const { id, tokens } of idle.sort((a, b) => a.lastUsed - b.lastUsed)) {
    if (free >= needed) break;
    evicted.push(id);
    free += tokens.length;
  }
  return free >= needed ? evicted : null;
}

/** Cells that running answers leave, idle sequences counted as free. */
export function cellsBesideRunning(total: number, holders: readonly CellHolder[]): number {
  return total - holders.reduce((sum, { busy, tokens }) => sum + (busy ? tokens.length : 0), 0);
}
