/**
 * The default planner: decode rows with drafts, then prompts in slices that keep the gap promise. Every part can be
 * left out, so that a benchmark shows its gain (bench: planner); DESIGN.md of worker/batch explains them.
 */
import type { PlannerPart } from '../../../contract/load.ts';
import { EXACT_TILES, type ExactSteps } from '../../../contract/settings/exact-rules.ts';
import type { CostModel } from './cost-model.ts';
import { DecodeCalls } from './decode-calls.ts';
import { PrefillCall } from './prefill-call.ts';
import {
  cellsPerRow,
  type EvaluatedCall,
  type PlannedRow,
  type PrefillingSequence,
  type StepPlan,
  type StepPlanner,
  type StepState,
  totalRows,
} from './step-planner.ts';

export interface TunedPlannerOptions {
  readonly costs: CostModel;
  readonly numCtx: number;
  readonly mostRows: number;
  readonly maxDraftTokens: number;
  /** KV state can be cut at any token; otherwise neither padding nor a rejected draft can be forgotten. */
  readonly canCut: boolean;
  /** Sequences share their KV cells, and then every pass; otherwise only neighbouring ids share one. */
  readonly sharesCells: boolean;
  /** A GPU does not compute in such groups of rows, so padding saves nothing there. */
  readonly onGpu: boolean;
  readonly exact?: ExactSteps | undefined;
  readonly without: readonly PlannerPart[];
}

export class TunedPlanner implements StepPlanner {
  readonly maxDraftTokens: number;
  readonly #costs: CostModel;
  readonly #decode: DecodeCalls;
  readonly #prefill: PrefillCall;

  constructor({
    costs,
    numCtx,
    mostRows,
    canCut,
    sharesCells,
    onGpu,
    exact,
    without,
    ...options
  }: TunedPlannerOptions) {
    const has = (part: PlannerPart): boolean => !without.includes(part);
    const canDraft = canCut && has('drafts');
    this.maxDraftTokens = canDraft ? options.maxDraftTokens : 0;
    this.#costs = costs;
    this.#decode = new DecodeCalls({
      costs,
      numCtx,
      maxDraftTokens: this.maxDraftTokens,
      sharesCells,
      apart: exact?.together === false,
    });
    this.#prefill = new PrefillCall({
      costs,
      mostRows,
      sizesChunks: has('chunk-size'),
      formsBursts: has('bursts'),
      exact: exact === undefined ? null : { ...EXACT_TILES, endsTogether: exact.together },
      numCtx,
      together: sharesCells,
      canPad: canCut && !onGpu && exact === undefined && has('padding'),
    });
  }

  plan({ nowMs, decoding: streams, prefilling, ...state }: StepState): StepPlan {
    const cellsInUse = this.#cellsRead(state);
    const ends = prefilling.filter(isEnd).map(({ sequence, position }) => ({ ...ROW, sequence, position }));
    const prompts = prefilling.filter((prompt) => !isEnd(prompt));
    const calls = this.#decode.plan({ streams, ends, mayDraft: prefilling.length === 0, cellsInUse });
    const decodeMs = calls.length === 0 ? null : calls.reduce((sum, { expectedMs }) => sum + expectedMs, 0);
    const prefill = this.#prefill.plan({ nowMs, cellsInUse, streams, prompts, decodeMs });
    return { calls: prefill === null ? calls : [...calls, prefill] };
  }

  observe({ phase, rows, ms, ...state }: EvaluatedCall): void {
    const cellsInUse = this.#cellsRead(state);
    if (phase === 'prefill') return this.#prefill.observe(rows, { ms, cellsInUse });
    this.#costs.observe({ phase, rows: totalRows(rows), cells: cellsPerRow(rows, cellsInUse) }, ms);
  }

  #cellsRead({ cellsInUse = null }: { readonly cellsInUse?: number | null }): number | null {
    return this.#costs.attention === 'plain' ? cellsInUse : null;
  }

  lingerMs(promptTokens: number): number {
    return this.#prefill.lingerMs(promptTokens);
  }
}

const ROW: PlannedRow = { kind: 'prefill', sequence: 0, position: 0, tokens: 1, padding: 0 };

/** The last token of a cached prompt costs as much as a decode row. */
function isEnd({ remaining }: PrefillingSequence): boolean {
  return remaining === 1;
}
