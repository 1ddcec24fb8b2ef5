/**
 * Chunked prefill: how many prompt tokens one step may evaluate. While streams decode, a step must not open a gap
 * that a reader notices. Otherwise only the reaction to new requests and cancellation limits it, because nothing is
 * handled during a call.
 */
import type { CostModel } from './cost-model.ts';
import { CHUNK_LIMITS, FIRST_TILE_DEPTH, HARDLY_SHORTER, ROW_TILE } from './tuning.ts';

export type ChunkLimits = Readonly<Record<keyof typeof CHUNK_LIMITS, number>>;

export interface RestOfStep {
  readonly decodeMs: number | null;
  readonly rowMs: number | null;
  readonly depth?: number;
}

export interface ChunkOptions {
  readonly costs: CostModel;
  readonly mostTokens: number;
  readonly limits?: ChunkLimits;
}

export class ChunkSize {
  readonly #costs: CostModel;
  readonly #mostTokens: number;
  readonly #limits: ChunkLimits;
  /** Fewer tokens take the same time. */
  #leastTokens: number;

  constructor({ costs, mostTokens, limits = CHUNK_LIMITS }: ChunkOptions) {
    this.#costs = costs;
    this.#mostTokens = mostTokens;
    this.#limits = limits;
    this.#leastTokens = limits.leastTokens;
  }

  budget(rest: RestOfStep): number {
    if (this.#costs.promptRowMs === null) return this.#firstBudget(rest);
    const { depth = 0 } = rest;
    const allowedMs = this.#allowedMs(rest);
    const mostTiles = Math.floor(this.#mostTokens / ROW_TILE);
    const tiles = largest(mostTiles, (count) => this.#callMs(count * ROW_TILE, depth) <= allowedMs);
    if (tiles > 0) return tiles * ROW_TILE;
    if (mostTiles > 0 && this.#callMs(ROW_TILE, depth) <= this.#tileMs(rest)) return ROW_TILE;
    const mostRows = Math.min(this.#mostTokens, ROW_TILE - 1);
    return Math.max(
      this.#leastTokens,
      largest(mostRows, (rows) => this.#callMs(rows, depth) <= allowedMs),
    );
  }

  #callMs(rows: number, depth: number): number {
    return this.#costs.predict({ phase: 'prefill', rows, cells: depth + rows / 2 });
  }

  /** Longest time of one tile. The more its rows would cost in smaller calls, the longer it may take. */
  #tileMs(rest: RestOfStep): number {
    const { tileGapMs, idleMs, dearIdleMs, firstTileMs } = this.#limits;
    const { depth = 0 } = rest;
    const isUntried = this.#costs.seen({ phase: 'prefill', rows: ROW_TILE }) === 0;
    const leastMs = isUntried && depth >= FIRST_TILE_DEPTH ? firstTileMs : 0;
    const dearer = (2 * this.#callMs(ROW_TILE / 2, depth)) / this.#callMs(ROW_TILE, depth) - 1;
    const ms = isRead(rest) ? tileGapMs + tileGapMs * dearer : idleMs + dearIdleMs * dearer;
    return Math.max(leastMs, ms);
  }

  /** Counts each row like one alone, which overestimates its time; a few rows if that time is unknown. */
  #firstBudget({ decodeMs, rowMs }: RestOfStep): number {
    const { firstTokens, leastTokens, idleMs } = this.#limits;
    const most = decodeMs === null ? 2 * ROW_TILE : ROW_TILE;
    return rowMs === null ? firstTokens : Math.max(leastTokens, Math.min(most, Math.floor(idleMs / rowMs)));
  }

  #allowedMs(rest: RestOfStep): number {
    const { gapMs, gapSteps, idleMs } = this.#limits;
    const { decodeMs, rowMs } = rest;
    // A call takes at least as long as one row, and calls of few rows would take forever in total.
    if (!isRead(rest)) return Math.max(idleMs, gapSteps * (rowMs ?? 0));
    return Math.max(gapMs, gapSteps * (decodeMs ?? 0)) - (decodeMs ?? 0);
  }

  observePrefill(rows: number, ms: number, cells = 0): void {
    const { leastTokens, firstTokens } = this.#limits;
    const call = { phase: 'prefill', rows, cells } as const;
    if (rows < leastTokens) return;
    // The machine is busy or its weights are slow: shorter calls would only be more numerous.
    const isKnown = rows < firstTokens && this.#costs.seen(call) > 0;
    if (isKnown && ms > HARDLY_SHORTER * this.#costs.predict(call)) {
      this.#leastTokens = Math.max(leastTokens, firstTokens);
      return;
    }
    this.#costs.observe(call, ms);
  }
}

function largest(most: number, fits: (count: number) => boolean): number {
  let count = most;
  while (count > 0 && !fits(count)) count -= 1;
  return count;
}

function isRead({ decodeMs }: RestOfStep): boolean {
  return decodeMs !== null;
}
