import { sharedPrefix } from './shared-prefix.ts';

const MOST_PREFIXES = 64;

export class EvictedPrefixes {
  #prefixes: Uint32Array[] = [];

  add(tokens: Uint32Array): void {
    if (this.longest(tokens) === tokens.length) return;
    const others = this.#prefixes.filter((known) => sharedPrefix(known, tokens, 0) < known.length);
    this.#prefixes = [...others, tokens].slice(-MOST_PREFIXES);
  }

  longest(prompt: Uint32Array): number {
    return this.#prefixes.reduce((most, known) => Math.max(most, sharedPrefix(known, prompt, 0)), 0);
  }
}
