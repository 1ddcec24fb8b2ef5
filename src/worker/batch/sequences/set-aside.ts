/**
 * Where sequences share cells, attention reads all cells up to the last one in use, whoever's they are: idle state slows
 * every step. Which of it stands in the way of a job that begins, and what it would cost that job. Pure.
 */
import { fitLine } from '../planning/linear-fit.ts';

export interface Tenant {
  readonly id: number;
  readonly tokens: { readonly length: number };
  readonly busy: boolean;
  /** When it came to hold state of its own, in turns; what came later lies in higher cells, as a rule. 0: it holds none. */
  readonly filled: number;
}

/** What is to be evaluated for a job. */
export interface Work {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/** Idle tenants behind all that runs, the largest first: once they are gone, fewer cells are read. */
export function idleBehindRunning<T extends Tenant>(tenants: readonly T[], beginning: number): T[] {
  const running = tenants.filter(({ id, busy, tokens }) => busy && (id !== beginning || tokens.length > 0));
  const last = Math.max(-1, ...running.map(({ filled }) => filled));
  const idle = tenants.filter(({ busy, tokens, filled }) => !busy && tokens.length > 0 && filled > last);
  return idle.sort((a, b) => b.tokens.length - a.tokens.length);
}

/** Milliseconds that so many cells cost a job. */
export function costOfCells(cells: number, { promptTokens, answerTokens }: Work, msPerCell: number): number {
  return cells * msPerCell * (answerTokens + LIMITS.tileShare * promptTokens);
}

const LIMITS = {
  /** Cells of a bin, in which steps are taken for alike. */
  binCells: 1_024,
  /** The weight of the last step in its bin, at least. */
  weight: 0.1,
  /** Chosen: steps that say what a bin costs; fewer may all lie in one slow moment of the machine. */
  leastSteps: 16,
  /** Chosen: bytes of state that a step of one row is believed to read in a millisecond until that was measured. */
  believedBytesPerMs: 15_000_000,
  /** Chosen: of what is believed, a cell costs at least this share. Bins are measured minutes apart, at another speed of the machine. */
  leastShare: 0.25,
  /** Measured, bench/LOG.md, "a long prompt behind an idle one": of what a cell costs a row by itself, it costs a row in a tile. */
  tileShare: 0.25,
} as const;

interface Bin {
  readonly steps: number;
  readonly ms: number;
}

/** What a step of one row costs for each cell in use: the slope of what such steps took. */
export class CellPrice {
  readonly #bins = new Map<number, Bin>();

  observe(cells: number, ms: number): void {
    const at = Math.floor(cells / LIMITS.binCells);
    const before = this.#bins.get(at) ?? { steps: 0, ms: 0 };
    const steps = before.steps + 1;
    const weight = Math.max(LIMITS.weight, 1 / steps);
    this.#bins.set(at, { steps, ms: before.ms + weight * (ms - before.ms) });
  }

  /** `bytesPerCell`: of the state, which says how much is read while nothing was measured. */
  msPerCell(bytesPerCell: number): number {
    const believed = bytesPerCell / LIMITS.believedBytesPerMs;
    const known = [...this.#bins].filter(([, { steps }]) => steps >= LIMITS.leastSteps);
    if (known.length < 2) return believed;
    const { slope } = fitLine(known.map(([x, { ms }]) => ({ x, y: ms })));
    return Math.max(LIMITS.leastShare * believed, slope / LIMITS.binCells);
  }
}
