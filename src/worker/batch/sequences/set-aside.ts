/**
 * Where sequences share cells, attention reads all cells up to the last one in use, whoever's they are: idle state slows
 * every step. Which of it stands in the way of a job that begins, and what it would cost that job. Pure.
 */
import { lineThrough } from '../planning/line.ts';
import { ROW_TILE } from '../planning/tuning.ts';

export interface Tenant {
  readonly id: number;
  readonly tokens: { readonly length: number };
  readonly busy: boolean;
  /** When it came to hold state, in turns; what came later lies in higher cells, as a rule. */
  readonly filled: number;
}

/** What is to be evaluated for a job. */
export interface Work {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/** Idle tenants behind all that runs, the largest first: once they are gone, fewer cells are read. */
export function inTheWay<T extends Tenant>(tenants: readonly T[], beginning: number): T[] {
  const running = tenants.filter(({ id, busy, tokens }) => busy && (id !== beginning || tokens.length > 0));
  const last = Math.max(-1, ...running.map(({ filled }) => filled));
  const idle = tenants.filter(({ busy, tokens, filled }) => !busy && tokens.length > 0 && filled > last);
  return idle.sort((a, b) => b.tokens.length - a.tokens.length);
}

/** Milliseconds that so many cells cost a job; the rows of a tile read each of them once. */
export function costOfCells(cells: number, { promptTokens, answerTokens }: Work, msPerCell: number): number {
  return cells * msPerCell * (answerTokens + promptTokens / ROW_TILE);
}

const LIMITS = {
  /** Cells of a bin, in which steps are taken for alike. */
  binCells: 1_024,
  /** The weight of the last step in its bin. */
  weight: 0.1,
  /** Chosen: bytes of state that a step of one row is believed to read in a millisecond until that was measured. */
  believedBytesPerMs: 15_000_000,
} as const;

/** What a step of one row costs for each cell in use: the slope of what such steps took. */
export class CellPrice {
  readonly #bins = new Map<number, number>();

  observe(cells: number, ms: number): void {
    const bin = Math.floor(cells / LIMITS.binCells);
    const before = this.#bins.get(bin) ?? ms;
    this.#bins.set(bin, before + LIMITS.weight * (ms - before));
  }

  /** `bytesPerCell`: of the state, which says how much is read while nothing was measured. */
  msPerCell(bytesPerCell: () => number): number {
    if (this.#bins.size < 2) return bytesPerCell() / LIMITS.believedBytesPerMs;
    const { slope } = lineThrough(Array.from(this.#bins, ([x, y]) => ({ x, y })));
    return Math.max(0, slope / LIMITS.binCells);
  }
}
