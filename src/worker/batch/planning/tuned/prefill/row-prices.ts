/**
 * What a row of a prompt costs, in a call of whole tiles and in one of fewer rows: a slice deep in a prompt costs several
 * times as much a row, and one price for both would say that a tile does too. Measured; pure.
 */
import { movedPrice } from '../../moving-price.ts';
import { TILE_COSTS } from '../../tuning.ts';
import { type CallSize, PrefillDepthSlope, sizeOf } from './depth-slope.ts';

export class RowPrices {
  readonly #slope: PrefillDepthSlope;
  /** Milliseconds a row at position 0. */
  readonly #startMs: Record<CallSize, number | null> = { tile: null, slice: null };

  /** Without `readsByTile` depth costs every row alike. */
  constructor(readsByTile: boolean) {
    this.#slope = new PrefillDepthSlope(readsByTile ? STEEPER : 1);
  }

  /** Milliseconds a row at position 0; null until a prefill was measured. */
  get startMs(): number | null {
    return this.#startMs.tile ?? this.#startMs.slice;
  }

  knows(size: CallSize): boolean {
    return this.#startMs[size] !== null;
  }

  /** Milliseconds a row at this depth. One in a tile costs no more than one in a slice. */
  rowMs(size: CallSize, depth: number): number {
    const { tile, slice } = this.#startMs;
    const sliceMs = (slice ?? tile ?? 0) * this.#slope.factorAt(depth, 'slice');
    if (size === 'slice') return sliceMs;
    return tile === null ? sliceMs : Math.min(sliceMs, tile * this.#slope.factorAt(depth, 'tile'));
  }

  /** Rows from this depth on that take so long. */
  rowsWithin(ms: number, { size, depth }: { readonly size: CallSize; readonly depth: number }): number {
    const startMs = this.rowMs(size, depth) / this.#slope.factorAt(depth, size);
    return this.#slope.rowsFor(ms / startMs, depth, size);
  }

  /** How many times what was expected so many rows, at this depth on average, cost; 1 for the first call of its size. */
  surprise(rows: number, { ms, depth }: { readonly ms: number; readonly depth: number }): number {
    const size = sizeOf(rows);
    return this.knows(size) ? ms / rows / this.rowMs(size, depth) : 1;
  }

  observe(rows: number, { ms, depth }: { readonly ms: number; readonly depth: number }): void {
    const size = sizeOf(rows);
    this.#slope.observe(rows, depth, ms);
    const sample = ms / rows / this.#slope.factorAt(depth, size);
    this.#startMs[size] = movedPrice(this.#startMs[size] ?? undefined, sample);
  }
}

const STEEPER = TILE_COSTS.tileDoublesAt / TILE_COSTS.rowDoublesAt;
