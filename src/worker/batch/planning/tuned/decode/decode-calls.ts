/**
 * worker/batch/planning/tuned/decode owns how the decode rows of a step are evaluated: together where they share a pass, with as many drafts
 * as pay by what calls cost lately. It knows nothing of prompts or of where drafts come from.
 */
import {
  type DecodingSequence,
  type EvaluatedCall,
  type PlannedCall,
  type PlannedRow,
  rowsOf,
} from '../../step-planner.ts';
import { WORTH_PARTING } from '../../tuning.ts';
import { CallPrices } from './call-prices.ts';
import { draftRows } from './draft-rows.ts';

export interface DecodeOptions {
  readonly numCtx: number;
  /** 0: no drafts. */
  readonly maxDraftTokens: number;
  readonly sharesCells: boolean;
  /** Every row is a call by itself. */
  readonly apart: boolean;
}

export interface DecodeWork {
  readonly streams: readonly DecodingSequence[];
  /** Last tokens of prompts, which cost what a decode row does. */
  readonly ends: readonly PlannedRow[];
  /** No prompt waits, which drafts would delay. */
  readonly mayDraft: boolean;
}

export class DecodeCalls {
  readonly #options: DecodeOptions;
  readonly #prices = new CallPrices();

  constructor(options: DecodeOptions) {
    this.#options = options;
  }

  /** What a call of one row takes; null while none was seen. */
  get rowMs(): number | null {
    return this.#prices.rowMs;
  }

  plan({ streams, ends, mayDraft }: DecodeWork): PlannedCall[] {
    const rows = [...streams.map(decodeRow), ...ends].sort((a, b) => a.sequence - b.sequence);
    const calls = this.#groups(rows);
    const drafted = mayDraft && calls.length === 1 ? this.#drafted(streams) : null;
    return (drafted === null ? calls.flatMap((call) => this.#parts(call)) : [drafted]).map((call) =>
      this.#call(call),
    );
  }

  observe({ rows, ms }: Pick<EvaluatedCall, 'rows' | 'ms'>): void {
    this.#prices.observe(total(rows), ms);
  }

  #groups(rows: readonly PlannedRow[]): readonly (readonly PlannedRow[])[] {
    if (this.#options.apart) return rows.map((row) => [row]);
    if (!this.#options.sharesCells) return neighbours(rows);
    return rows.length === 0 ? [] : [rows];
  }

  /** Two rows can cost more than two calls: weights in Q8_0 do. That they still do is seen when the price is forgotten. */
  #parts(call: readonly PlannedRow[]): readonly (readonly PlannedRow[])[] {
    const apartMs = this.#apartMs(call.length);
    return apartMs < WORTH_PARTING * this.#prices.estimate(call.length) ? call.map((row) => [row]) : [call];
  }

  /** Of so many calls of one row, where the load leaves the choice. */
  #apartMs(rows: number): number {
    return this.#options.sharesCells
      ? rows * (this.rowMs ?? Number.POSITIVE_INFINITY)
      : Number.POSITIVE_INFINITY;
  }

  #drafted(streams: readonly DecodingSequence[]): readonly PlannedRow[] | null {
    const { numCtx, maxDraftTokens, sharesCells } = this.#options;
    const most = Math.min(maxDraftTokens, ...streams.map(({ position }) => numCtx - 1 - position));
    if (most <= 0) return null;
    const callMs = (rows: number): number => this.#prices.estimate(rows);
    const plainMs = Math.min(callMs(streams.length), this.#apartMs(streams.length));
    const found = draftRows(streams, callMs, { most, isEqual: !sharesCells, plainMs });
    if (found === null) return null;
    return streams.map((stream, i) => {
      const drafts = found.drafts[i] ?? 0;
      return { ...decodeRow(stream), tokens: 1 + drafts, padding: (found.rows[i] ?? 0) - drafts };
    });
  }

  #call(rows: readonly PlannedRow[]): PlannedCall {
    return { phase: 'decode', rows, expectedMs: this.#prices.estimate(total(rows)) };
  }
}

/** Sequences with windows of their own share a pass only if their ids are consecutive. */
function neighbours(rows: readonly PlannedRow[]): PlannedRow[][] {
  const runs: PlannedRow[][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run?.at(-1)?.sequence === row.sequence - 1) run.push(row);
    else runs.push([row]);
  }
  return runs;
}

function total(rows: readonly PlannedRow[]): number {
  return rows.reduce((sum, row) => sum + rowsOf(row), 0);
}

/** The sampled token. */
function decodeRow({ sequence, position }: DecodingSequence): PlannedRow {
  return { kind: 'decode', sequence, position, tokens: 1, padding: 0 };
}
