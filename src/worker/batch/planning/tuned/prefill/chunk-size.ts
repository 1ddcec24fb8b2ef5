/**
 * Chunked prefill: how many prompt tokens one step may evaluate. While streams decode, a step must not open a gap that
 * a reader notices; while none does, only the reaction to new requests and to cancellation bounds it, because nothing is
 * handled during a call. Rates are measured.
 */
import { CHUNK_LIMITS, CHUNK_WEIGHTS, ROW_TILE } from '../../tuning.ts';
import { PrefillDepthSlope } from './depth-slope.ts';

export type ChunkLimits = Readonly<Record<keyof typeof CHUNK_LIMITS, number>>;

/** What else the step does. */
export interface StepBeside {
  /** What its decode calls will take; null when nothing decodes. */
  readonly decodeMs: number | null;
  /** What a call of one row takes; null while nobody knows. */
  readonly rowMs: number | null;
  /** Position of the prompt that goes first. */
  readonly depth?: number;
}

export class ChunkSize {
  readonly #mostTokens: number;
  readonly #limits: ChunkLimits;
  readonly #slope = new PrefillDepthSlope();
  #msPerToken: number | null = null;
  /** Fewer tokens take no less time. */
  #leastTokens: number;

  constructor(mostTokens: number, limits: ChunkLimits = CHUNK_LIMITS) {
    this.#mostTokens = mostTokens;
    this.#limits = limits;
    this.#leastTokens = limits.leastTokens;
  }

  /** At position 0; null until a prefill was measured. */
  get msPerToken(): number | null {
    return this.#msPerToken;
  }

  /** Prompt tokens for the next step: whole tiles of rows unless they are too slow. */
  budget(beside: StepBeside): number {
    const { tileGapMs, idleMs } = this.#limits;
    if (this.#msPerToken === null) return this.#firstBudget(beside);
    const { depth = 0 } = beside;
    const most = this.#slope.rowsFor(this.#allowedMs(beside) / this.#msPerToken, depth);
    const tokens = Math.min(this.#mostTokens, Math.floor(most));
    if (tokens >= ROW_TILE) return tokens - (tokens % ROW_TILE);
    const tileMs = isRead(beside) ? tileGapMs : idleMs;
    const tile = this.#slope.rowsFor(tileMs / this.#msPerToken, depth);
    return tile >= ROW_TILE ? ROW_TILE : Math.max(this.#leastTokens, tokens);
  }

  /** As if each row cost what one costs alone, which is more than it does; where that is unknown, a few. */
  #firstBudget({ decodeMs, rowMs }: StepBeside): number {
    const { firstTokens, leastTokens, idleMs } = this.#limits;
    const most = decodeMs === null ? 2 * ROW_TILE : ROW_TILE;
    return rowMs === null ? firstTokens : Math.max(leastTokens, Math.min(most, Math.floor(idleMs / rowMs)));
  }

  #allowedMs(beside: StepBeside): number {
    const { gapMs, gapSteps, idleMs } = this.#limits;
    const { decodeMs, rowMs } = beside;
    // No call is shorter than one row, and one with hardly more rows would take for ever.
    if (!isRead(beside)) return Math.max(idleMs, gapSteps * (rowMs ?? 0));
    return Math.max(gapMs, gapSteps * (decodeMs ?? 0)) - (decodeMs ?? 0);
  }

  /** A call of this many prompt rows, at this depth on average, took this long. */
  observePrefill(rows: number, ms: number, depth = 0): void {
    const { leastTokens, firstTokens } = this.#limits;
    if (rows < leastTokens) return;
    this.#slope.observe(rows, depth, ms);
    const sample = ms / rows / this.#slope.factorAt(depth);
    const isShort = rows < firstTokens && this.#msPerToken !== null;
    // A busy machine, or weights that take long to read: cutting such a call shorter would only make more of them.
    if (isShort && sample > CHUNK_WEIGHTS.hardlyShorter * (this.#msPerToken ?? 0)) {
      this.#leastTokens = Math.max(leastTokens, firstTokens);
      return;
    }
    const faster = sample < (this.#msPerToken ?? 0);
    this.#msPerToken = blend(this.#msPerToken, sample, faster ? CHUNK_WEIGHTS.faster : CHUNK_WEIGHTS.usual);
  }
}

/** Somebody reads along, from the first token of a stream on, whatever began with it. */
function isRead({ decodeMs }: StepBeside): boolean {
  return decodeMs !== null;
}

function blend(previous: number | null, sample: number, weight: number): number {
  return previous === null ? sample : previous * (1 - weight) + sample * weight;
}
