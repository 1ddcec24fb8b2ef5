/**
 * Chunked prefill: how many prompt tokens one step may evaluate. While streams decode, a step must not open a gap that
 * a reader notices; while none does, only the reaction to new requests and cancellation bounds it. Rates are measured.
 */
import { CHUNK_LIMITS, CHUNK_WEIGHTS, ROW_TILE } from './tuning.ts';

export type ChunkLimits = Readonly<Record<keyof typeof CHUNK_LIMITS, number>>;

export class ChunkSize {
  readonly #mostTokens: number;
  readonly #limits: ChunkLimits;
  #decodeMs: number | null = null;
  #msPerToken: number | null = null;

  constructor(mostTokens: number, limits: ChunkLimits = CHUNK_LIMITS) {
    this.#mostTokens = mostTokens;
    this.#limits = limits;
  }

  /** Null until a prefill was measured. */
  get msPerToken(): number | null {
    return this.#msPerToken;
  }

  /** Prompt tokens for the next step, with streams that decode or without: whole tiles of rows unless they are too slow. */
  budget(decoding: boolean): number {
    const { leastTokens, tileGapMs, idleMs } = this.#limits;
    if (this.#msPerToken === null) return this.#firstBudget(decoding);
    const tokens = Math.min(this.#mostTokens, Math.floor(this.#allowedMs(decoding) / this.#msPerToken));
    if (tokens >= ROW_TILE) return tokens - (tokens % ROW_TILE);
    const tileMs = decoding ? tileGapMs : idleMs;
    return ROW_TILE * this.#msPerToken <= tileMs ? ROW_TILE : Math.max(leastTokens, tokens);
  }

  /** On a very slow machine a few tiles could look like a standstill. */
  #firstBudget(decoding: boolean): number {
    const { leastTokens, firstMs } = this.#limits;
    const affordable = Math.floor(firstMs / (this.#decodeMs ?? 0));
    return Math.max(leastTokens, Math.min(decoding ? ROW_TILE : 2 * ROW_TILE, affordable));
  }

  #allowedMs(decoding: boolean): number {
    const { gapMs, gapSteps, idleMs } = this.#limits;
    if (!decoding) return idleMs;
    const decodeMs = this.#decodeMs ?? 0;
    return Math.max(gapMs, gapSteps * decodeMs) - decodeMs;
  }

  /** The decode call of a step took this long. */
  observeDecode(ms: number): void {
    this.#decodeMs = blend(this.#decodeMs, ms);
  }

  /** A call of this many prompt rows, padding included, took this long. */
  observePrefill(rows: number, ms: number): void {
    if (rows < this.#limits.leastTokens) return;
    const sample = ms / rows;
    const faster = sample < (this.#msPerToken ?? 0);
    this.#msPerToken = blend(this.#msPerToken, sample, faster ? CHUNK_WEIGHTS.faster : CHUNK_WEIGHTS.usual);
  }
}

function blend(previous: number | null, sample: number, weight: number = CHUNK_WEIGHTS.usual): number {
  return previous === null ? sample : previous * (1 - weight) + sample * weight;
}
