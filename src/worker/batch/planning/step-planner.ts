/**
 * Which rows the next step of the batch loop evaluates, by what such rows cost before. Gathers what the pure parts need
 * (row-plan, pad-slices, draft-length, burst) and keeps the measurements that they decide by.
 */
import { readsFirst } from './burst.ts';
import { CHUNK_LIMITS, ChunkSize } from './chunk-size.ts';
import { draftLength } from './draft-length.ts';
import type { Row } from '../../batch/evaluate.ts';
import type { ChatModel } from '../../model.ts';
import { type PaddedSlice, padSlices } from './pad-slices.ts';
import { decodeMs, fillers, slicePrompts } from './row-plan.ts';
import type { Running } from '../running.ts';
import type { LoopCost, Sequences } from '../sequences.ts';
import { StepTimes } from './step-times.ts';

/** Until a prompt has been read. */
const ASSUMED_MS_PER_TOKEN = 5;

export interface PlannedRow {
  /** Absent on a filler. */
  readonly owner: Running | undefined;
  readonly row: Row;
}

/** Two native calls, either of which may be empty. */
export interface StepPlan {
  readonly decodeRows: readonly PlannedRow[];
  readonly slices: readonly PlannedRow[];
}

export class StepPlanner {
  readonly #sequences: Sequences;
  readonly #chunk = new ChunkSize();
  readonly #times = new StepTimes();
  readonly #numCtx: number;
  readonly #padWithin: number;
  readonly #mostGuesses: number;

  constructor({ facts, spec, prefixReuse }: ChatModel, sequences: Sequences) {
    this.#sequences = sequences;
    this.#numCtx = facts.numCtx;
    // A memory that cannot be cut can forget neither padding nor a wrong guess, and a GPU computes in no such tiles.
    const cuttable = prefixReuse === 'full';
    this.#padWithin = cuttable && facts.gpuLayers === 0 ? facts.numCtx : 0;
    this.#mostGuesses = cuttable ? spec.draftTokens : 0;
    const measured = facts.calibration.find(({ threads }) => threads === facts.threads);
    if (measured === undefined) return;
    this.#chunk.sawPlainStep(1000 / measured.tokensPerS);
    this.#times.sawStep([0], 1000 / measured.tokensPerS);
  }

  /** Null until a prompt has been read. */
  get msPerToken(): number | null {
    return this.#chunk.msPerToken;
  }

  cost(waiting: number): LoopCost {
    return { waiting: Math.max(1, waiting), rowMs: this.#rowMs, stepMs: this.#stepMs };
  }

  plan(all: readonly Running[]): StepPlan {
    const prefilling = all.filter((running) => !running.decoding);
    const ready = all.filter((running) => running.decoding);
    const pace = { msPerToken: this.msPerToken, nowMs: performance.now() };
    const decoding = readsFirst(ready, prefilling, pace) ? [] : ready;
    // Somebody waits for a prompt that is being read, and guesses would make it later.
    const guesses = prefilling.length === 0 ? this.#guesses(decoding) : 0;
    const prompts = this.#promptRows(prefilling, decoding.length > 0);
    // The last token of a prompt that is known already costs what a decode row does.
    const isSingle = ({ row }: PlannedRow): boolean => rowsOf(row) === 1;
    const decodeRows = [
      ...decoding.map((owner) => ({ owner, row: owner.decodeRow(guesses) })),
      ...prompts.filter(isSingle),
    ];
    return {
      decodeRows: [...decodeRows, ...this.#fillers(decodeRows, 1 + guesses)],
      slices: prompts.filter((planned) => !isSingle(planned)),
    };
  }

  expectedMs(decodeRows: readonly PlannedRow[]): number {
    return this.#stepMs(decodeRows.length);
  }

  sawDecode(decodeRows: readonly PlannedRow[], ms: number): void {
    this.#chunk.sawPlainStep(ms);
    const ids = decodeRows.map(({ row }) => row.sequence);
    const longer = decodeRows.reduce((sum, { row }) => sum + rowsOf(row) - 1, 0);
    if (longer === 0) this.#times.sawStep(ids, ms);
    else this.#times.sawLonger(decodeMs(ids, this.#stepMs), longer, ms);
  }

  sawSlices(slices: readonly PlannedRow[], ms: number): void {
    const rows = slices.reduce((sum, { row }) => sum + rowsOf(row), 0);
    this.#chunk.sawPrefill(rows, ms);
  }

  get #rowMs(): number {
    return this.msPerToken ?? ASSUMED_MS_PER_TOKEN;
  }

  readonly #stepMs = (rows: number): number => this.#times.stepMs(rows);

  /** Tokens that each decoding sequence guesses in this step. */
  #guesses(decoding: readonly Running[]): number {
    const room = decoding.map(({ position }) => this.#numCtx - 1 - position);
    const most = Math.min(this.#mostGuesses, ...room);
    if (most <= 0 || decoding.length === 0) return 0;
    const ids = decoding.map(({ sequence }) => sequence);
    const prices = { plainMs: decodeMs(ids, this.#stepMs), rowMs: this.#times.moreMs };
    const streams = decoding.map((running) => running.draftStream(most));
    return draftLength(streams, prices, most);
  }

  #promptRows(prefilling: readonly Running[], beside: boolean): PlannedRow[] {
    const slices = this.#slices(prefilling, beside);
    return prefilling.flatMap((owner) => {
      const slice = slices.find(({ sequence }) => sequence === owner.sequence);
      if (slice !== undefined) return [{ owner, row: owner.promptRow(slice.tokens, slice.padding) }];
      owner.passOver();
      return [];
    });
  }

  #slices(prefilling: readonly Running[], beside: boolean): PaddedSlice[] {
    const waiting = prefilling.map((running) => running.promptWait);
    const budget = this.#chunk.budget(beside);
    // Nothing comes on top of the budget as long as nobody knows what a row costs.
    const mostRows = this.msPerToken === null ? budget : CHUNK_LIMITS.largest;
    const slices = slicePrompts(waiting, { budget, mostRows, idle: !beside });
    return padSlices(slices, waiting, {
      mostRows,
      padWithin: this.#padWithin,
      rowMs: this.#rowMs,
      passMs: this.#stepMs(1),
    });
  }

  #fillers(decodeRows: readonly PlannedRow[], length: number): PlannedRow[] {
    const ids = decodeRows.map(({ row }) => row.sequence).sort((a, b) => a - b);
    const filled = fillers(ids, (sequence) => this.#sequences.canFill(sequence, length), this.#stepMs);
    return filled.map((sequence) => ({ owner: undefined, row: this.#sequences.fillerRow(sequence, length) }));
  }
}

function rowsOf(row: Row): number {
  return row.tokens.length + (row.padding ?? 0);
}
