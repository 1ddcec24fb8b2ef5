/**
 * How many prompt tokens one step may evaluate. While streams decode, a step must not open a gap that a reader
 * notices; while none does, only the reaction to newcomers and cancellation bounds it. Rates are measured online.
 */
export interface ChunkLimits {
  readonly smallest: number;
  readonly largest: number;
  /** The longest gap between two tokens of a decoding stream that prefill may cause. */
  readonly gapMs: number;
  /** ... unless a plain step takes so long that this multiple of it is more. */
  readonly gapSteps: number;
  /** The longest step while nothing decodes. */
  readonly idleMs: number;
}

export const CHUNK_LIMITS: ChunkLimits = {
  smallest: 16,
  largest: 512,
  gapMs: 250,
  gapSteps: 2,
  idleMs: 1000,
};

const WEIGHT = 0.3;

export class ChunkSize {
  readonly #limits: ChunkLimits;
  #plainStepMs: number | null = null;
  #msPerToken: number | null = null;

  constructor(limits: ChunkLimits = CHUNK_LIMITS) {
    this.#limits = limits;
  }

  get msPerToken(): number | null {
    return this.#msPerToken;
  }

  /** Prompt tokens for a step in which this many streams decode. */
  budget(decoding: number): number {
    const { smallest, largest, gapMs, gapSteps, idleMs } = this.#limits;
    if (this.#msPerToken === null) return decoding > 0 ? smallest * 2 : smallest * 8;
    const plain = decoding > 0 ? (this.#plainStepMs ?? 0) : 0;
    const allowedMs = decoding > 0 ? Math.max(gapMs, gapSteps * plain) - plain : idleMs;
    const tokens = Math.floor(allowedMs / this.#msPerToken);
    return Math.min(largest, Math.max(smallest, tokens));
  }

  /** A step without prompt tokens. */
  sawPlainStep(ms: number): void {
    this.#plainStepMs = blend(this.#plainStepMs, ms);
  }

  /** A step with prompt tokens; the decode rows beside them are taken off at their own price. */
  sawPrefill(tokens: number, ms: number, decoding: number): void {
    // A handful of tokens is dominated by the fixed cost of a step and says nothing about the rate.
    if (tokens < this.#limits.smallest) return;
    const own = Math.max(ms * 0.1, ms - (decoding > 0 ? (this.#plainStepMs ?? 0) : 0));
    this.#msPerToken = blend(this.#msPerToken, own / tokens);
  }
}

function blend(previous: number | null, sample: number): number {
  return previous === null ? sample : previous * (1 - WEIGHT) + sample * WEIGHT;
}
