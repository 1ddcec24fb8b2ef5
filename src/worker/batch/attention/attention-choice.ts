/**
 * Which way of attention suits the work at hand, on a CPU. Flash attention reads a prompt faster and steps over the cells
 * of other sequences; without it a token deep in a conversation costs a third, because keys and values are multiplied as
 * matrices. Changing takes a while, so it has to pay. Pure.
 */
import { fitLine } from '../planning/linear-fit.ts';

export type Attending = 'flash' | 'plain';

/** What a stream still has to do. */
export interface StreamWork {
  /** Tokens whose state it has. */
  readonly depth: number;
  /** Tokens of its prompt. */
  readonly toRead: number;
  /** Tokens of its answer, at most. */
  readonly mayWrite: number;
  readonly written: number;
}

export interface AttentionState {
  readonly streams: readonly StreamWork[];
  /** Cells in use, those of idle sequences included. */
  readonly cells: number;
  /** What a change would take, milliseconds. */
  readonly changeMs: number;
}

/** A step of one row of one stream. */
export interface LoneStep {
  readonly depth: number;
  readonly cells: number;
  readonly ms: number;
}

const ATTENTION_LIMITS = {
  /** Cells of a bin, in which steps are taken for alike. */
  binCells: 512,
  /** The weight of the last step in its bin, at least. */
  weight: 0.1,
  /** Chosen: steps that say what a bin costs. */
  leastSteps: 8,
  /** Chosen: tokens of an answer that are reckoned with, as nobody knows when it ends; one that is longer goes on for as long again. */
  answerTokens: 128,
  /** Chosen: steps after which a price is no longer believed, as the speed of a machine moves. */
  believedFor: 2_048,
  /** Chosen: nobody notices less, and answers of a small model should not differ by it. */
  leastSparedMs: 500,
  /** Chosen: what a change has to spare where several answers stand still for it, in what it takes. */
  worthBesideOthers: 3,
} as const;

/**
 * Measured on two Intel cores, bench/LOG.md, "attention by depth": without flash attention against with it. Each share is
 * one of what a cell costs a row that is evaluated alone with flash attention.
 */
const SHARES = {
  /** A step with an empty cache, of the same step with flash attention. */
  plainStep: 1.12,
  plainCell: 0.4,
  /** The cost of a cell grows by this power of the rows, which share a pass over it. */
  plainRows: 0.6,
  /** Rows of several streams in one step. */
  flashRows: 0.7,
  /** A row of a prompt. */
  plainRead: 0.105,
  flashRead: 0.072,
  /** What a row of a prompt takes more without flash attention, as fewer are evaluated at a time: of a step behind nothing. */
  plainReadRow: 0.04,
} as const;

/** A measured share of a cell is believed between these. */
const LEAST_SHARE = 0.1;
const MOST_SHARE = 2;

/** What a step of one row takes: so much at first, and so much for each cell. */
interface StepPrice {
  readonly firstMs: number;
  readonly msPerCell: number;
}

/** Steps that are taken for alike, in the mean. */
interface Bin {
  readonly steps: number;
  readonly ms: number;
  readonly cells: number;
  /** When the last one was, in steps. */
  readonly step: number;
}

const NO_STEPS: Bin = { steps: 0, ms: 0, cells: 0, step: 0 };

export class AttentionChoice {
  #now: Attending = 'flash';
  /** Steps as attention is computed now, by what they read. */
  readonly #bins = new Map<number, Bin>();
  #steps = 0;
  /** A step of one row behind nothing, with flash attention; null: nobody measured it. */
  #empty: { readonly ms: number; readonly step: number } | null = null;
  /** As it was when it was last tried; what was learnt of it is forgotten by and by. */
  #plainCell: number = SHARES.plainCell;
  /** What steps since the last change would have taken less without flash attention, or with it. */
  #regretMs = 0;
  /** The price before the last change, until the next one is known. */
  #before: StepPrice | null = null;

  get now(): Attending {
    return this.#now;
  }

  /** Whether `observeEmpty` would tell something now. */
  get wantsEmpty(): boolean {
    const isDeep = [...this.#bins].some(([at, bin]) => at > 0 && this.#isBelieved(bin));
    return this.#now === 'flash' && isDeep && !this.#isRecent(this.#empty?.step);
  }

  /** What a step of one row took behind nothing. */
  observeEmpty(ms: number): void {
    this.#empty = { ms, step: this.#steps };
  }

  observe({ depth, cells, ms }: LoneStep): void {
    const { binCells, weight, leastSteps, believedFor } = ATTENTION_LIMITS;
    this.#steps += 1;
    const read = this.#now === 'flash' ? depth : cells;
    const at = Math.floor(read / binCells);
    const known = this.#bins.get(at);
    const before = known !== undefined && this.#isRecent(known.step) ? known : NO_STEPS;
    const steps = before.steps + 1;
    const share = Math.max(weight, 1 / steps);
    const bin = {
      steps,
      ms: before.ms + share * (ms - before.ms),
      cells: before.cells + share * (read - before.cells),
      step: this.#steps,
    };
    this.#bins.set(at, bin);
    if (steps === leastSteps) this.#learn(bin);
    if (this.#now === 'flash') this.#plainCell += (SHARES.plainCell - this.#plainCell) / believedFor;
    this.#regret({ depth, cells });
  }

  /** Whether to change now: it must spare more than it takes, and more than that where others wait for it. */
  isWorthChanging({ streams, cells, changeMs }: AttentionState): boolean {
    const flash = this.#flashPrice();
    if (flash === null || streams.length === 0) return false;
    const withFlash = flashCost(streams, flash);
    const without = plainCost(streams, flash, { cells, plainCell: this.#plainCell });
    const sparedMs =
      this.#now === 'flash'
        ? withFlash.readMs + withFlash.writeMs - without.readMs - without.writeMs
        : // The answer to a long prompt may be worth the way back.
          without.readMs +
          without.writeMs -
          withFlash.readMs -
          Math.min(withFlash.writeMs, without.writeMs + changeMs);
    const { worthBesideOthers, leastSparedMs } = ATTENTION_LIMITS;
    const worth = streams.length === 1 ? 1 : worthBesideOthers;
    return sparedMs + this.#regretMs > Math.max(leastSparedMs, worth * changeMs);
  }

  changed(): void {
    this.#before = this.#flashPrice();
    this.#now = this.#now === 'flash' ? 'plain' : 'flash';
    this.#bins.clear();
    this.#regretMs = 0;
  }

  /** What each step loses adds up: many short answers are worth a change that no single one is. */
  #regret({ depth, cells }: Omit<LoneStep, 'ms'>): void {
    const flash = this.#flashPrice();
    if (flash === null) return;
    const flashMs = flash.firstMs + flash.msPerCell * depth;
    const plainMs = SHARES.plainStep * flash.firstMs + this.#plainCell * flash.msPerCell * cells;
    const lostMs = this.#now === 'flash' ? flashMs - plainMs : plainMs - flashMs;
    this.#regretMs = Math.max(0, this.#regretMs + lostMs);
  }

  /** The first bin after a change says what a cell costs without flash attention. */
  #learn({ ms, cells }: Bin): void {
    const before = this.#before;
    if (this.#now === 'flash' || before === null) return;
    this.#before = null;
    const cellsMs = before.msPerCell * cells;
    if (cellsMs === 0) return;
    const share = (ms - SHARES.plainStep * before.firstMs) / cellsMs;
    this.#plainCell = Math.min(MOST_SHARE, Math.max(LEAST_SHARE, share));
  }

  /** Measured; of plain attention, reckoned back. Null while too little is known. */
  #flashPrice(): StepPrice | null {
    const price = this.#measured();
    if (price === null || this.#now === 'flash') return price;
    return { firstMs: price.firstMs / SHARES.plainStep, msPerCell: price.msPerCell / this.#plainCell };
  }

  #measured(): StepPrice | null {
    const known = [...this.#bins.values()].filter((bin) => this.#isBelieved(bin));
    const points = known.map(({ ms, cells }) => ({ x: cells, y: ms }));
    if (this.#empty !== null)
      points.push({ x: 0, y: this.#empty.ms * (this.#now === 'flash' ? 1 : SHARES.plainStep) });
    if (points.length < 2) return null;
    const { slope, meanX, meanY } = fitLine(points);
    const msPerCell = Math.max(0, slope);
    return { firstMs: Math.max(0, meanY - msPerCell * meanX), msPerCell };
  }

  #isBelieved({ steps, step }: Bin): boolean {
    return steps >= ATTENTION_LIMITS.leastSteps && this.#isRecent(step);
  }

  #isRecent(step: number | undefined): boolean {
    return step !== undefined && this.#steps - step < ATTENTION_LIMITS.believedFor;
  }
}

/** What is left to do, milliseconds. */
interface WorkCost {
  readonly readMs: number;
  readonly writeMs: number;
}

/** With flash attention, where tokens read the cells of their own sequence. */
function flashCost(streams: readonly StreamWork[], { firstMs, msPerCell }: StepPrice): WorkCost {
  const cells = sum(streams.map(({ depth, toRead }) => depth + toRead));
  const share = streams.length > 1 ? SHARES.flashRows : 1;
  const stepMs = firstMs + msPerCell * cells * share;
  return {
    readMs: SHARES.flashRead * msPerCell * cellsRead(streams, 0),
    writeMs: steps(streams) * stepMs,
  };
}

/** Without it, where every token reads all cells in use. */
function plainCost(
  streams: readonly StreamWork[],
  { firstMs, msPerCell }: StepPrice,
  { cells, plainCell }: { readonly cells: number; readonly plainCell: number },
): WorkCost {
  const idle = cells - sum(streams.map(({ depth }) => depth));
  const toRead = sum(streams.map((stream) => stream.toRead));
  const stepMs =
    SHARES.plainStep * firstMs +
    plainCell * msPerCell * (cells + toRead) * streams.length ** SHARES.plainRows;
  return {
    readMs: SHARES.plainReadRow * firstMs * toRead + SHARES.plainRead * msPerCell * cellsRead(streams, idle),
    writeMs: steps(streams) * stepMs,
  };
}

/** Decode steps until the mean answer has ended, as far as that can be reckoned. */
function steps(streams: readonly StreamWork[]): number {
  const { answerTokens } = ATTENTION_LIMITS;
  const left = streams.map(({ written, mayWrite }) => Math.min(mayWrite, Math.max(answerTokens, written)));
  return sum(left) / streams.length;
}

/** Cells that the tokens of all prompts read, each those before it and `idle` ones. */
function cellsRead(streams: readonly StreamWork[], idle: number): number {
  return sum(streams.map(({ depth, toRead }) => toRead * (depth + idle + toRead / 2)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
