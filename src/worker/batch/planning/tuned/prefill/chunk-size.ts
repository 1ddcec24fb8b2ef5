/**
 * Chunked prefill: how many prompt tokens one step may evaluate. While streams decode, a step must not open a gap that
 * a reader notices; while none does, only the reaction to new requests and to cancellation bounds it, because nothing is
 * handled during a call. Rates are measured.
 */
import { CHUNK_LIMITS, HARDLY_SHORTER, ROW_TILE, TILE_COSTS } from '../../tuning.ts';
import { RowPrices } from './row-prices.ts';

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

export interface ChunkOptions {
  /** Rows of one native call. */
  readonly mostTokens: number;
  /** Attention reads the KV cache once for a tile of rows, and once for each row of fewer. */
  readonly readsByTile: boolean;
  readonly limits?: ChunkLimits;
}

export class ChunkSize {
  readonly #mostTokens: number;
  readonly #limits: ChunkLimits;
  readonly #prices: RowPrices;
  /** Fewer tokens take no less time. */
  #leastTokens: number;

  constructor({ mostTokens, readsByTile, limits = CHUNK_LIMITS }: ChunkOptions) {
    this.#mostTokens = mostTokens;
    this.#limits = limits;
    this.#prices = new RowPrices(readsByTile);
    this.#leastTokens = limits.leastTokens;
  }

  /** At position 0; null until a prefill was measured. */
  get msPerToken(): number | null {
    return this.#prices.startMs;
  }

  /** Prompt tokens for the next step: whole tiles of rows unless they are too slow. */
  budget(beside: StepBeside): number {
    if (this.#prices.startMs === null) return this.#firstBudget(beside);
    const { depth = 0 } = beside;
    const allowedMs = this.#allowedMs(beside);
    const inTiles = Math.min(
      this.#mostTokens,
      Math.floor(this.#prices.rowsWithin(allowedMs, { size: 'tile', depth })),
    );
    if (inTiles >= ROW_TILE) return inTiles - (inTiles % ROW_TILE);
    const tile = this.#prices.rowsWithin(this.#tileMs(beside), { size: 'tile', depth });
    if (tile >= ROW_TILE) return Math.min(this.#mostTokens, ROW_TILE);
    const inSlice = Math.floor(this.#prices.rowsWithin(allowedMs, { size: 'slice', depth }));
    return Math.max(this.#leastTokens, Math.min(inSlice, ROW_TILE - 1));
  }

  /** What one tile may take: longer by as much as its rows would cost more among fewer. */
  #tileMs(beside: StepBeside): number {
    const { tileGapMs, idleMs, dearIdleMs, firstTileMs } = this.#limits;
    const { depth = 0 } = beside;
    const isUntried = !this.#prices.knows('tile') && depth >= TILE_COSTS.rowDoublesAt;
    const leastMs = isUntried ? firstTileMs : 0;
    const dearer = this.#prices.rowMs('slice', depth) / this.#prices.rowMs('tile', depth) - 1;
    const ms = isRead(beside) ? tileGapMs + tileGapMs * dearer : idleMs + dearIdleMs * dearer;
    return Math.max(leastMs, ms);
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
    // A busy machine, or weights that take long to read: cutting such a call shorter would only make more of them.
    if (rows < firstTokens && this.#prices.surprise(rows, { ms, depth }) > HARDLY_SHORTER) {
      this.#leastTokens = Math.max(leastTokens, firstTokens);
      return;
    }
    this.#prices.observe(rows, { ms, depth });
  }
}

/** Somebody reads along, from the first token of a stream on, whatever began with it. */
function isRead({ decodeMs }: StepBeside): boolean {
  return decodeMs !== null;
}
