import { SharedMap } from '../../lib/base/shared-map.ts';
import { ownerDomain } from './disk/domain-tag.ts';
import { sharedPrefix } from './prefixes/shared-prefix.ts';

/** Prefixes and their tokens, of all owners together: clients choose owners, so their number is unbounded. */
const LIMITS = { entries: 64, size: 2 * 1024 * 1024 };

interface Evicted {
  readonly owner: string;
  readonly tokens: Uint32Array;
}

export class EvictedPrefixes {
  readonly #kept = new SharedMap<number, Evicted>(LIMITS);
  #count = 0;

  add(owner: string, tokens: Uint32Array): void {
    if (this.longest(owner, tokens) === tokens.length) return;
    for (const [key, known] of this.#of(owner))
      if (sharedPrefix(known.tokens, tokens, 0) === known.tokens.length) this.#kept.delete(key);
    this.#count += 1;
    this.#kept.set(this.#count, { owner, tokens }, { owner: ownerDomain(owner), size: tokens.length });
    this.#kept.trim();
  }

  longest(owner: string, prompt: Uint32Array): number {
    return this.#of(owner).reduce(
      (most, [, { tokens }]) => Math.max(most, sharedPrefix(tokens, prompt, 0)),
      0,
    );
  }

  #of(owner: string): [number, Evicted][] {
    return [...this.#kept.entries()].filter(([, known]) => known.owner === owner);
  }
}
