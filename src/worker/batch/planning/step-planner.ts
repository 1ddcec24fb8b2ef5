/**
 * worker/batch/planning owns what one step of the batch loop evaluates, in which native calls, and whether an idle
 * loop lingers for more requests. It is pure: plain data in, plain data out, the clock passed in. It knows nothing of
 * jobs, text or the native library; worker/batch carries the plans out and reports the time of each native call.
 */

export interface StepPlanner {
  readonly maxDraftTokens: number;
  plan(state: StepState): StepPlan;
  observe(call: EvaluatedCall): void;
  lingerMs(promptTokens: number): number;
}

/** State of the context before a step. Every list is in ascending order of sequence. */
export interface StepState {
  readonly nowMs: number;
  readonly cellsInUse?: number;
  readonly decoding: readonly DecodingSequence[];
  readonly prefilling: readonly PrefillingSequence[];
}

export interface DecodingSequence {
  readonly sequence: number;
  /** Tokens whose KV state is in the sequence. */
  readonly position: number;
  readonly arrivedMs: number;
  readonly firstTokenMs: number;
  readonly draftTokens: number;
  /** Share of recent drafts that the sampler also chose. */
  readonly draftHitRate: number;
  /** Milliseconds per drafted token; absent for prompt lookup. */
  readonly draftMsPerToken?: number;
}

export interface PrefillingSequence {
  readonly sequence: number;
  readonly position: number;
  /** Prompt tokens not yet evaluated, or those until a required stop. */
  readonly remaining: number;
  readonly arrivedMs: number;
  /** Logits of all its rows are read, and not only those of the last one. */
  readonly readsRows?: boolean;
}

export interface PlannedRow {
  /** Rows of an image are alone in their call; planners ignore them. */
  readonly kind: 'decode' | 'prefill' | 'image';
  readonly sequence: number;
  readonly position: number;
  readonly tokens: number;
  readonly padding: number;
}

/** Native calls of a step, in this order. No sequence is in two of them. */
export interface StepPlan {
  readonly calls: readonly PlannedCall[];
}

export interface PlannedCall {
  /** A decode call may hold the last token of a prompt, which costs as much as a decode row. */
  readonly phase: 'decode' | 'prefill';
  readonly rows: readonly PlannedRow[];
  readonly expectedMs: number;
}

export interface EvaluatedCall extends Pick<PlannedCall, 'phase' | 'rows'>, Pick<StepState, 'cellsInUse'> {
  readonly ms: number;
}

export function cellsPerRow(rows: readonly PlannedRow[], cellsInUse: number | null): number {
  if (cellsInUse !== null) return cellsInUse;
  const read = rows.map((row) => rowCount(row) * (row.position + rowCount(row) / 2));
  return read.reduce((sum, cells) => sum + cells, 0) / Math.max(1, totalRows(rows));
}

export function rowCount({ tokens, padding }: Pick<PlannedRow, 'tokens' | 'padding'>): number {
  return tokens + padding;
}

export function totalRows(rows: readonly PlannedRow[]): number {
  return rows.reduce((sum, row) => sum + rowCount(row), 0);
}

/** Padding counts: it takes cells during the step. */
export function cellsFilled({ calls }: StepPlan): number {
  return totalRows(calls.flatMap(({ rows }) => rows));
}

export function withoutPadding({ calls }: StepPlan): StepPlan {
  return {
    calls: calls.map((call) => ({ ...call, rows: call.rows.map((row) => ({ ...row, padding: 0 })) })),
  };
}
