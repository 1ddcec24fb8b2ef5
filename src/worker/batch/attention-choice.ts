/**
 * Choice of attention on a CPU. Flash attention prefills faster and skips the cells of other sequences. Plain
 * attention decodes a token deep in a conversation in a third of the time, because it multiplies keys and values as
 * matrices. A change takes a while, so it has to pay. Pure.
 */
import type { AttentionKind, CostModel } from './planning/cost-model.ts';
import { ROW_TILE } from './planning/tuning.ts';

export interface StreamWork {
  readonly depth: number;
  readonly toRead: number;
  readonly mayWrite: number;
  readonly written: number;
}

interface AttentionState {
  readonly streams: readonly StreamWork[];
  readonly cells: number;
  readonly changeMs: number;
}

const ATTENTION_LIMITS = {
  leastSteps: 8,
  /** Chosen: the depth from which measuring a step at depth 0 is worth its time. */
  leastDepth: 1_024,
  /** Chosen: expected tokens of an answer, whose end is unknown; a longer one is expected to double. */
  answerTokens: 128,
  /** Chosen: smaller gains are unnoticeable, and answers of a small model should not differ for them. */
  leastSparedMs: 500,
  /**
   * Chosen: least saving as a multiple of the cost of a change, because estimates err; more if several answers wait
   * for it.
   */
  worthAlone: 2.5,
  worthWithOthers: 3,
} as const;

const ONE_ROW = { phase: 'decode', rows: 1 } as const;

export class AttentionChoice {
  readonly #costs: CostModel;
  #regretMs = 0;

  constructor(costs: CostModel) {
    this.#costs = costs;
  }

  get now(): AttentionKind {
    return this.#costs.attention;
  }

  /** Whether to measure a step of one row at depth 0, because all steps so far were about as deep. */
  wantsEmpty(streams: readonly StreamWork[]): boolean {
    const isDeep = streams.some(({ depth }) => depth >= ATTENTION_LIMITS.leastDepth);
    return this.now === 'flash' && isDeep && this.#hasSteps && !this.#costs.isCellMeasured;
  }

  /** Adds up the loss of each step: many short answers are worth a change that no single one is. */
  countStep(streams: readonly StreamWork[], cells: number): void {
    const [stream, ...others] = streams;
    if (stream === undefined || others.length > 0 || stream.toRead > 0 || !this.#isKnown) return;
    const ms = (attention: AttentionKind): number => this.#stepMs(streams, cells, attention);
    this.#regretMs = Math.max(0, this.#regretMs + ms(this.now) - ms(otherThan(this.now)));
  }

  isWorthChanging({ streams, cells, changeMs }: AttentionState): boolean {
    if (streams.length === 0 || !this.#isKnown) return false;
    const flash = this.#workMs(streams, cells, 'flash');
    const plain = this.#workMs(streams, cells, 'plain');
    const sparedMs =
      this.now === 'flash'
        ? flash.readMs + flash.writeMs - plain.readMs - plain.writeMs
        : // The answer to a long prompt may be worth the change back.
          plain.readMs + plain.writeMs - flash.readMs - Math.min(flash.writeMs, plain.writeMs + changeMs);
    const { worthAlone, worthWithOthers, leastSparedMs } = ATTENTION_LIMITS;
    const worth = streams.length === 1 ? worthAlone : worthWithOthers;
    return sparedMs + this.#regretMs > Math.max(leastSparedMs, worth * changeMs);
  }

  changed(): void {
    this.#costs.attention = otherThan(this.now);
    this.#regretMs = 0;
  }

  get #hasSteps(): boolean {
    return this.#costs.seen(ONE_ROW) >= ATTENTION_LIMITS.leastSteps;
  }

  get #isKnown(): boolean {
    return this.#hasSteps && (this.now === 'plain' || this.#costs.isCellMeasured);
  }

  /** Remaining milliseconds. With flash attention a row reads the cells of its own sequence, without it all in use. */
  #workMs(
    streams: readonly StreamWork[],
    cells: number,
    attention: AttentionKind,
  ): { readonly readMs: number; readonly writeMs: number } {
    const readMs = streams.map(({ depth, toRead }) => {
      const before = attention === 'flash' ? depth : cells;
      const call = { phase: 'prefill', rows: ROW_TILE, cells: before + toRead / 2, attention } as const;
      return (toRead / ROW_TILE) * this.#costs.predict(call);
    });
    return { readMs: sum(readMs), writeMs: stepsLeft(streams) * this.#stepMs(streams, cells, attention) };
  }

  #stepMs(streams: readonly StreamWork[], cells: number, attention: AttentionKind): number {
    const toRead = sum(streams.map((stream) => stream.toRead));
    const own = sum(streams.map(({ depth }) => depth)) + toRead;
    return this.#costs.predict({
      phase: 'decode',
      rows: streams.length,
      cells: attention === 'flash' ? own / streams.length : cells + toRead,
      attention,
    });
  }
}

function otherThan(attention: AttentionKind): AttentionKind {
  return attention === 'flash' ? 'plain' : 'flash';
}

function stepsLeft(streams: readonly StreamWork[]): number {
  const { answerTokens } = ATTENTION_LIMITS;
  const left = streams.map(({ written, mayWrite }) => Math.min(mayWrite, Math.max(answerTokens, written)));
  return sum(left) / streams.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
