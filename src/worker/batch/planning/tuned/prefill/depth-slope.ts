/**
 * How much dearer a row of a prompt is for each earlier token, as a share of what it costs at position 0: attention reads
 * all of them. Learnt from calls of whole tiles, whose rows cost alike; kept while calls say nothing about it.
 */
import { DEPTH_LIMITS, ROW_TILE } from '../../tuning.ts';

interface Sample {
  readonly depth: number;
  readonly msPerRow: number;
}

export class PrefillDepthSlope {
  #samples: readonly Sample[] = [];
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
    this.#samples = [...this.#samples.slice(1 - DEPTH_LIMITS.samples), { depth, msPerRow: ms / rows }];
    const meanDepth = meanOf(this.#samples, (sample) => sample.depth);
    const meanMs = meanOf(this.#samples, (sample) => sample.msPerRow);
    const spread = meanOf(this.#samples, (sample) => (sample.depth - meanDepth) ** 2);
    if (spread < DEPTH_LIMITS.leastSpread ** 2) return;
    const together = meanOf(this.#samples, (each) => (each.depth - meanDepth) * (each.msPerRow - meanMs));
    const slopeMs = Math.max(0, together / spread);
    const startMs = Math.max(DEPTH_LIMITS.leastAtStart * meanMs, meanMs - slopeMs * meanDepth);
    this.#perToken = slopeMs / startMs;
  }
}

function meanOf(samples: readonly Sample[], value: (sample: Sample) => number): number {
  return samples.reduce((sum, sample) => sum + value(sample), 0) / Math.max(1, samples.length);
}
