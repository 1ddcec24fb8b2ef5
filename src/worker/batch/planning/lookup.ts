/**
 * Guesses what a stream says next by what followed the same three tokens earlier in its own prompt or answer (prompt
 * lookup decoding). Answers repeat their prompt where code is edited, text is quoted, or tools are fed their own results.
 * It keeps count of how often it is right, also while nobody uses its guesses. Pure.
 */

/** Fewer recur by chance too often, and more are found later. */
const GRAM = 3;

/** Of a long text only the end is looked through, which bounds time and memory. */
export const MOST_TOKENS = 16_384;

/** How fast the share of right guesses follows what happens. */
const WEIGHT = 0.2;

export class Lookup {
  readonly #tokens: number[] = [];
  /** By three tokens, the place behind their last occurrence. */
  readonly #behind = new Map<number, number>();
  /** The place whose token is the guess for the next one; null when there is none. */
  #place: number | null = null;
  #hitRate = 0;

  constructor(prompt: Uint32Array) {
    for (const token of prompt.subarray(Math.max(0, prompt.length - MOST_TOKENS))) this.#append(token);
    this.#place = this.#find();
  }

  /** Whether anything is known to follow; then as much can be guessed as is asked for. */
  get knows(): boolean {
    return this.#place !== null;
  }

  /** The share of next tokens that were guessed right lately, of those that were guessed; 0 at first. */
  get hitRate(): number {
    return this.#hitRate;
  }

  /** The next token of the answer. */
  said(token: number): void {
    const place = this.#place;
    const hit = place !== null && this.#tokens[place] === token;
    if (place !== null) this.#hitRate += WEIGHT * ((hit ? 1 : 0) - this.#hitRate);
    this.#append(token);
    // What follows a place that was right is the best guess, even where the last tokens recur elsewhere.
    this.#place = hit ? place + 1 : this.#find();
  }

  /** The tokens to expect next, as many as asked for, or none. */
  guess(count: number): number[] {
    if (this.#place === null) return [];
    const guessed: number[] = [];
    // A text that repeats itself is continued beyond its end by what was guessed.
    for (let at = this.#place; guessed.length < count; at++)
      guessed.push(this.#tokens[at] ?? guessed[at - this.#tokens.length] ?? 0);
    return guessed;
  }

  #append(token: number): void {
    // Entered only once something follows, so that the end of the text does not find itself.
    const end = this.#tokens.length;
    if (end >= GRAM) this.#behind.set(this.#gram(end), end);
    this.#tokens.push(token);
  }

  #find(): number | null {
    const end = this.#tokens.length;
    if (end < GRAM) return null;
    const place = this.#behind.get(this.#gram(end));
    return place !== undefined && this.#isSame(place, end) ? place : null;
  }

  /** A number for the three tokens before a place; different ones may share it. */
  #gram(end: number): number {
    let gram = 0;
    for (let at = end - GRAM; at < end; at++) gram = Math.imul(gram ^ (this.#tokens[at] ?? 0), 0x9e3779b1);
    return gram;
  }

  #isSame(one: number, other: number): boolean {
    for (let back = 1; back <= GRAM; back++)
      if (this.#tokens[one - back] !== this.#tokens[other - back]) return false;
    return true;
  }
}
