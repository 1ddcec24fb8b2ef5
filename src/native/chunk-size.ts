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

  /** Prompt tokens for a step in which this many streams decode: whole tiles of rows if those are not too slow. */
  budget(decoding: number): number {
    const { smallest, largest, tileGapMs, idleMs } = this.#limits;
    if (this.#msPerToken === null) return this.#firstBudget(decoding);
    // The decode rows are in the same batch, and a slice beside them is one row longer.
    const most = decoding > 0 ? largest - decoding - 1 : largest;
    const tokens = Math.min(most, Math.floor(this.#allowedMs(decoding) / this.#msPerToken));
    if (tokens >= ROW_TILE) return tokens - (tokens % ROW_TILE);
    const tileMs = decoding > 0 ? tileGapMs : idleMs;
    return ROW_TILE * this.#msPerToken <= tileMs ? ROW_TILE : Math.max(smallest, tokens);
  }

  /** On a machine that is very slow a few tiles could look like a standstill. */
  #firstBudget(decoding: number): number {
    const { smallest, firstMs } = this.#limits;
    const affordable = Math.floor(firstMs / (this.#plainStepMs ?? 0));
    return Math.max(smallest, Math.min(decoding > 0 ? ROW_TILE : 2 * ROW_TILE, affordable));
  }

  #allowedMs(decoding: number): number {
    const { gapMs, gapSteps, idleMs } = this.#limits;
    if (decoding === 0) return idleMs;
    const plain = this.#plainStepMs ?? 0;
    return Math.max(gapMs, gapSteps * plain) - plain;
  }

  /** A step without prompt tokens. */
  sawPlainStep(ms: number): void {
    this.#plainStepMs = blend(this.#plainStepMs, ms);
  }

  /** A step with so many prompt rows, padding included; the decode rows beside them are taken off at their own price. */
  sawPrefill(tokens: number, ms: number, decoding: number): void {
    // A handful of tokens is dominated by the fixed cost of a step and says nothing about the rate.
    if (tokens < this.#limits.smallest) return;
    const own = Math.max(ms * 0.1, ms - (decoding > 0 ? (this.#plainStepMs ?? 0) : 0));
    const sample = own / tokens;
    const faster = sample < (this.#msPerToken ?? 0);
    this.#msPerToken = blend(this.#msPerToken, sample, faster ? WEIGHT_OF_FASTER : WEIGHT);
  }
}

function blend(previous: number | null, sample: number, weight = WEIGHT): number {
  return previous === null ? sample : previous * (1 - weight) + sample * weight;
}
