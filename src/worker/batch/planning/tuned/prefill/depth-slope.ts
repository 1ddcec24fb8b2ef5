/**
 * How much dearer a row of a prompt is for each earlier token, as a share of what it costs at position 0: attention reads
 * all of them. Learnt from calls of whole tiles, whose rows cost alike; kept while calls say nothing about it.
 */
import { lineThrough, type Point } from '../../line.ts';
import { DEPTH_LIMITS, ROW_TILE } from '../../tuning.ts';

export class PrefillDepthSlope {
  /** Milliseconds a row by depth. */
  #samples: readonly Point[] = [];
  #perToken = 0;

  /** How many times what it costs at position 0 a row costs at this depth. */
  factorAt(depth: number): number {
    return 1 + this.#perToken * depth;
  }

  /** Rows from this depth on that cost as much as `rowsAtStart` rows at position 0. */
  rowsFor(rowsAtStart: number, depth: number): number {
    const factor = this.factorAt(depth);
    if (this.#perToken === 0) return rowsAtStart;
    return (Math.sqrt(factor ** 2 + 2 * this.#perToken * rowsAtStart) - factor) / this.#perToken;
  }

  observe(rows: number, depth: number, ms: number): void {
    if (rows < ROW_TILE) return;
    this.#samples = [...this.#samples.slice(1 - DEPTH_LIMITS.samples), { x: depth, y: ms / rows }];
    const { meanX: meanDepth, meanY: meanMs, spread, slope } = lineThrough(this.#samples);
    if (spread < DEPTH_LIMITS.leastSpread ** 2) return;
    const slopeMs = Math.max(0, slope);
    const startMs = Math.max(DEPTH_LIMITS.leastAtStart * meanMs, meanMs - slopeMs * meanDepth);
    this.#perToken = slopeMs / startMs;
  }
}
