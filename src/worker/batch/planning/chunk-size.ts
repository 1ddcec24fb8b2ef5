/**
 * How many prompt tokens one step may evaluate. While streams decode, a step must not open a gap that a reader
 * notices; while none does, only the reaction to newcomers and cancellation bounds it. Rates are measured online.
 */
import { ROW_TILE } from './row-plan.ts';

export interface ChunkLimits {
  readonly smallest: number;
  readonly largest: number;
  /** The longest gap between two tokens of a decoding stream that prefill may cause. */
  readonly gapMs: number;
  /** ... unless a plain step takes so long that this multiple of it is more. */
  readonly gapSteps: number;
  /** A whole tile of rows is worth a longer gap, because smaller pieces cost several times as much per token. */
  readonly tileGapMs: number;
  /** The longest step while nothing decodes; half as much again where a prompt ends with it. */
  readonly idleMs: number;
  /** The longest step while the rate is not known, reckoned as if each row cost a step of its own. */
  readonly firstMs: number;
}

export const CHUNK_LIMITS: ChunkLimits = {
  smallest: 16,
  largest: 512,
  gapMs: 250,
  gapSteps: 2,
  tileGapMs: 750,
  idleMs: 1000,
  firstMs: 10_000,
};

const WEIGHT = 0.3;
/** The first prompt touches new memory and is slow; no luck makes one fast. So a fast sample counts for more. */
const WEIGHT_OF_FASTER = 0.7;

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

  /** Prompt tokens for a step in which streams decode, or none: whole tiles of rows if those are not too slow. */
  budget(decoding: boolean): number {
    const { smallest, largest, tileGapMs, idleMs } = this.#limits;
    if (this.#msPerToken === null) return this.#firstBudget(decoding);
    const tokens = Math.min(largest, Math.floor(this.#allowedMs(decoding) / this.#msPerToken));
    if (tokens >= ROW_TILE) return tokens - (tokens % ROW_TILE);
    const tileMs = decoding ? tileGapMs : idleMs;
    return ROW_TILE * this.#msPerToken <= tileMs ? ROW_TILE : Math.max(smallest, tokens);
  }

  /** On a machine that is very slow a few tiles could look like a standstill. */
  #firstBudget(decoding: boolean): number {
    const { smallest, firstMs } = this.#limits;
    const affordable = Math.floor(firstMs / (this.#plainStepMs ?? 0));
    return Math.max(smallest, Math.min(decoding ? ROW_TILE : 2 * ROW_TILE, affordable));
  }

  #allowedMs(decoding: boolean): number {
    const { gapMs, gapSteps, idleMs } = this.#limits;
    if (!decoding) return idleMs;
    const plain = this.#plainStepMs ?? 0;
    return Math.max(gapMs, gapSteps * plain) - plain;
  }

  /** The decode rows of a step, a call of their own. */
  sawPlainStep(ms: number): void {
    this.#plainStepMs = blend(this.#plainStepMs, ms);
  }

  /** A call with so many prompt rows and no others, padding included. */
  sawPrefill(tokens: number, ms: number): void {
    // A handful of tokens is dominated by the fixed cost of a call and says nothing about the rate.
    if (tokens < this.#limits.smallest) return;
    const sample = ms / tokens;
    const faster = sample < (this.#msPerToken ?? 0);
    this.#msPerToken = blend(this.#msPerToken, sample, faster ? WEIGHT_OF_FASTER : WEIGHT);
  }
}

function blend(previous: number | null, sample: number, weight = WEIGHT): number {
  return previous === null ? sample : previous * (1 - weight) + sample * weight;
}
