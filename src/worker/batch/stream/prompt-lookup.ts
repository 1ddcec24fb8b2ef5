/**
 * Prompt-lookup drafts for one stream: the tokens that followed the same three tokens earlier in its prompt or
 * answer. Answers repeat their prompt where code is edited, text is quoted or a tool's result is used. The hit rate
 * is also counted while no draft is used. Pure.
 */
import { isRow } from '../../media/rows.ts';
import { LOOKUP_LIMITS } from '../planning/tuning.ts';
import type { DraftSource } from './draft-source.ts';

const {
  ngramTokens: NGRAM_TOKENS,
  mostIndexedTokens: MOST_INDEXED_TOKENS,
  hitRateWeight: HIT_RATE_WEIGHT,
} = LOOKUP_LIMITS;

export class PromptLookup implements DraftSource {
  readonly msPerToken = 0;
  readonly #tokens: number[] = [];
  readonly #continuations = new Map<number, number>();
  #next: number | null = null;
  #hitRate = 0;

  constructor(prompt: Uint32Array) {
    for (const token of prompt.subarray(Math.max(0, prompt.length - MOST_INDEXED_TOKENS)))
      this.#append(token);
    this.#next = this.#find();
  }

  get hasDraft(): boolean {
    return this.#next !== null;
  }

  get hitRate(): number {
    return this.#hitRate;
  }

  push(token: number): void {
    const next = this.#next;
    const isHit = next !== null && this.#tokens[next] === token;
    if (next !== null) this.#hitRate += HIT_RATE_WEIGHT * ((isHit ? 1 : 0) - this.#hitRate);
    this.#append(token);
    // A match that was right is the best draft, even if the last tokens recur at another place.
    this.#next = isHit ? next + 1 : this.#find();
  }

  draft(count: number): number[] {
    if (this.#next === null) return [];
    const drafted: number[] = [];
    // If the match reaches the end of the text, the draft continues with its own tokens.
    for (let at = this.#next; drafted.length < count; at += 1) {
      const token = this.#tokens[at] ?? drafted[at - this.#tokens.length] ?? 0;
      if (isRow(token)) break;
      drafted.push(token);
    }
    return drafted;
  }

  #append(token: number): void {
    // Indexed only once something follows, so that the end of the text does not find itself.
    const end = this.#tokens.length;
    if (end >= NGRAM_TOKENS) this.#continuations.set(this.#hashBefore(end), end);
    this.#tokens.push(token);
  }

  #find(): number | null {
    const end = this.#tokens.length;
    if (end < NGRAM_TOKENS) return null;
    const found = this.#continuations.get(this.#hashBefore(end));
    return found !== undefined && this.#sameBefore(found, end) ? found : null;
  }

  #hashBefore(end: number): number {
    let hash = 0;
    for (let at = end - NGRAM_TOKENS; at < end; at += 1)
      hash = Math.imul(hash ^ (this.#tokens[at] ?? 0), 0x9e3779b1);
    return hash;
  }

  #sameBefore(a: number, b: number): boolean {
    for (let back = 1; back <= NGRAM_TOKENS; back += 1)
      if (this.#tokens[a - back] !== this.#tokens[b - back]) return false;
    return true;
  }
}
