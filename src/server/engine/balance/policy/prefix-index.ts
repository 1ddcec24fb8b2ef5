/**
 * Upstreams that processed prefixes of a model's prompts, as far as this server sent them. Bounded, least recently
 * used first out.
 */
import type { Prefix } from './affinity.ts';

export class PrefixIndex {
  readonly #most: number;
  readonly #holders = new Map<number, Set<string>>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#holders.size;
  }

  /** Call before sending; the last prefix is the whole prompt. */
  learn(prefixes: readonly Prefix[], upstream: string): void {
    // A shorter prefix is worth more than its extensions, so the shortest counts as used last.
    for (const { hash } of prefixes.toReversed()) this.#use(hash).add(upstream);
    for (const hash of this.#holders.keys()) {
      if (this.#holders.size <= this.#most) return;
      this.#holders.delete(hash);
    }
  }

  shares(prefixes: readonly Prefix[]): ReadonlyMap<string, number> {
    const shares = new Map<string, number>();
    const whole = prefixes.at(-1)?.length ?? 0;
    for (const { hash, length } of prefixes.toReversed()) {
      for (const upstream of this.#holders.get(hash) ?? [])
        if (!shares.has(upstream)) shares.set(upstream, length / whole);
    }
    return shares;
  }

  forget(upstream: string): void {
    for (const [hash, holders] of this.#holders) {
      holders.delete(upstream);
      if (holders.size === 0) this.#holders.delete(hash);
    }
  }

  #use(hash: number): Set<string> {
    const holders = this.#holders.get(hash) ?? new Set();
    this.#holders.delete(hash);
    this.#holders.set(hash, holders);
    return holders;
  }
}
