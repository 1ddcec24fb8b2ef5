/**
 * Whether a copy of a state is likely to pay, by what became of those before it: where prompts repeat nothing, copies are
 * made for nothing. Now and then one is made all the same, which shows when that changes. Pure.
 */
const LIMITS = {
  /** Chosen: so many states are believed to come back before anything is known. */
  believedStates: 8,
  /** Chosen: what is expected to be saved is this many times what the copy costs. */
  margin: 4,
  /** Chosen: what copies that do not seem to pay may take, of the time that reading such prompts takes. */
  trialShare: 0.005,
  /** Chosen: what counts of the past after each further copy. */
  memory: 0.98,
} as const;

export class CopyPayoff {
  #believedStates: number = LIMITS.believedStates;
  #states = 0;
  /** Tokens of these states, and those of them that came back. */
  #kept = 0;
  #reused = 0;
  /** What it took to read the prompts whose state was given up since the last trial. */
  #givenUpMs = 0;

  /** `savedMs`: if the state is used again. */
  isWorth(costMs: number, savedMs: number): boolean {
    if (this.#share * savedMs >= LIMITS.margin * costMs) return true;
    this.#givenUpMs += savedMs;
    if (savedMs <= costMs || costMs > LIMITS.trialShare * this.#givenUpMs) return false;
    this.#givenUpMs = 0;
    return true;
  }

  kept(tokens: number): void {
    this.#believedStates *= LIMITS.memory;
    this.#states = this.#states * LIMITS.memory + 1;
    this.#kept = this.#kept * LIMITS.memory + tokens;
    this.#reused *= LIMITS.memory;
  }

  reused(tokens: number): void {
    this.#reused += tokens;
  }

  /** The share of what is kept that is expected to come back. */
  get #share(): number {
    if (this.#states === 0) return 1;
    const believed = (this.#believedStates * this.#kept) / this.#states;
    return Math.min(1, (this.#reused + believed) / (this.#kept + believed));
  }
}
