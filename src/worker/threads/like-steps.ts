/**
 * What native calls cost lately, by their kind: like is compared with like. A call that met another program says nothing
 * about the next one, so of several the costliest is left out.
 */

export interface LikeLimits {
  /** Samples of one kind before anything is said about it. */
  readonly least: number;
  /** Later ones replace the oldest. */
  readonly most: number;
  /** Older ones are from another time of the machine, milliseconds. */
  readonly forgetMs: number;
}

interface Sample {
  readonly cost: number;
  readonly atMs: number;
}

/** Kinds of calls kept at once; a conversation goes through a few dozen of them. */
export const MOST_KINDS = 64;

export class LikeSteps {
  readonly #limits: LikeLimits;
  readonly #byKind = new Map<string, Sample[]>();

  constructor(limits: LikeLimits) {
    this.#limits = limits;
  }

  add(kind: string, sample: Sample): void {
    const before = this.#byKind.get(kind) ?? [];
    // Behind all others, so that the first one is the kind that was seen longest ago.
    this.#byKind.delete(kind);
    this.#byKind.set(kind, [...before.slice(1 - this.#limits.most), sample]);
    const [oldest] = this.#byKind.keys();
    if (this.#byKind.size > MOST_KINDS && oldest !== undefined) this.#byKind.delete(oldest);
  }

  /** Null while too little is known. */
  typical(kind: string, atMs: number): number | null {
    const { least, forgetMs } = this.#limits;
    const recent = (this.#byKind.get(kind) ?? []).filter((sample) => atMs - sample.atMs <= forgetMs);
    return recent.length < least ? null : typicalOf(recent.map(({ cost }) => cost));
  }

  clear(): void {
    this.#byKind.clear();
  }
}

/** The mean of all but the largest: throughput is about means, and one disturbed step decides nothing. */
export function typicalOf(costs: readonly number[]): number {
  const kept = [...costs].sort((a, b) => a - b).slice(0, Math.max(1, costs.length - 1));
  return kept.reduce((sum, cost) => sum + cost, 0) / kept.length;
}
