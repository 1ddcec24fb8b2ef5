/**
 * Whether a copy of a state is likely to pay, by what became of those before it: where prompts repeat nothing, copies are
 * made for nothing. Now and then one is made all the same, which shows when that changes. Pure.
 */
const LIMITS = {
  /** Chosen: so many tokens are believed to come back before anything is known. */
  believedTokens: 8_192,
  /** Chosen: what is expected to be saved is this many times what the copy costs. */
  margin: 4,
  /** Chosen: of copies that do not seem to pay, one in so many is made. */
  trialEvery: 8,
  /** Chosen: what counts of the past after each further copy. */
  memory: 0.98,
} as const;

export class Prospects {
  #kept: number = LIMITS.believedTokens;
  #reused: number = LIMITS.believedTokens;
  #passedOver = 0;

  /** `savedMs`: if the state is used again. */
  isWorth(costMs: number, savedMs: number): boolean {
    const share = Math.min(1, this.#reused / this.#kept);
    if (share * savedMs >= LIMITS.margin * costMs) return true;
    this.#passedOver += 1;
    return savedMs > costMs && this.#passedOver % LIMITS.trialEvery === 0;
  }

  kept(tokens: number): void {
    this.#kept = this.#kept * LIMITS.memory + tokens;
    this.#reused *= LIMITS.memory;
  }

  reused(tokens: number): void {
    this.#reused += tokens;
  }
}
