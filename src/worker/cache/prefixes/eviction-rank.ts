/**
 * Order of eviction (GreedyDual-Size). Every use sets the rank of a holding to the present level plus what a byte of
 * it saves, and each eviction raises the level to the evicted rank. So among holdings of about the same age the
 * cheapest to evaluate again goes first, and nothing stays forever. Pure.
 */
export interface Holding {
  readonly bytes: number;
  readonly savesMs: number;
  rank: number;
}

const MIB = 1024 * 1024;

export class EvictionRank {
  #level = 0;

  used(holding: Holding): void {
    holding.rank = this.#level + (holding.savesMs * MIB) / Math.max(1, holding.bytes);
  }

  least<T>(mayGo: readonly T[], holding: (one: T) => Holding): T | undefined {
    const [first, ...others] = mayGo;
    if (first === undefined) return undefined;
    const rank = (one: T): number => holding(one).rank;
    const least = others.reduce((low, one) => (rank(one) < rank(low) ? one : low), first);
    this.#level = Math.max(this.#level, rank(least));
    return least;
  }
}
