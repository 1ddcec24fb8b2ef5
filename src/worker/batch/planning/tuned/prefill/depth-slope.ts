/**
 * How much dearer a row of a prompt is for each earlier token, as a share of what it costs at position 0: attention reads
 * all of them, once for a tile of rows and once for each row of a slice, which has fewer. Learnt from calls of whole
 * tiles, whose rows cost alike; kept while calls say nothing about it.
 */
import { fitLine, type Point } from '../../linear-fit.ts';
import { DEPTH_LIMITS, ROW_TILE } from '../../tuning.ts';

/** Rows of a call that fills a tile, or of one with fewer. */
export type CallSize = 'tile' | 'slice';

export function sizeOf(rows: number): CallSize {
  return rows >= ROW_TILE ? 'tile' : 'slice';
}

export class PrefillDepthSlope {
  /** How many times what it adds to a row of a tile a token of depth adds to one of a slice. */
  readonly #sliceSlope: number;
  /** Milliseconds a row by depth. */
  #samples: readonly Point[] = [];
  #perToken = 0;

  constructor(sliceSlope: number) {
    this.#sliceSlope = sliceSlope;
  }

  /** How many times what it costs at position 0 a row costs at this depth. */
  factorAt(depth: number, size: CallSize): number {
    return 1 + this.#slopeOf(size) * depth;
  }

  /** Rows from this depth on that cost as much as `rowsAtStart` rows at position 0. */
  rowsFor(rowsAtStart: number, depth: number, size: CallSize): number {
    const slope = this.#slopeOf(size);
    if (slope === 0) return rowsAtStart;
    const factor = this.factorAt(depth, size);
    return (Math.sqrt(factor ** 2 + 2 * slope * rowsAtStart) - factor) / slope;
  }

  observe(rows: number, depth: number, ms: number): void {
    if (sizeOf(rows) !== 'tile') return;
    this.#samples = [...this.#samples.slice(1 - DEPTH_LIMITS.samples), { x: depth, y: ms / rows }];
    const { meanX: meanDepth, meanY: meanMs, spread, slope } = fitLine(this.#samples);
    if (spread < DEPTH_LIMITS.leastSpread ** 2) return;
    const slopeMs = Math.max(0, slope);
    const startMs = Math.max(DEPTH_LIMITS.leastAtStart * meanMs, meanMs - slopeMs * meanDepth);
    this.#perToken = slopeMs / startMs;
  }

  #slopeOf(size: CallSize): number {
    return size === 'tile' ? this.#perToken : this.#perToken * this.#sliceSlope;
  }
}
