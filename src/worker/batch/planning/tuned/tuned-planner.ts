/**
 * worker/batch/planning/tuned owns the planner that ships: decode rows with drafts, then prompts in slices that keep the
 * gap promise. Every part can be left out, so that a benchmark shows what it buys (bench: planner); DESIGN.md of
 * worker/batch explains them. It knows nothing of jobs or native calls.
 */
import type { PlannerPart } from '../../../../contract/load.ts';
import { EXACT_TILES, type ExactSteps } from '../../../../contract/settings/exact-rules.ts';
import { DecodeCalls } from './decode/decode-calls.ts';
import { PrefillCall } from './prefill/prefill-call.ts';
import type {
  EvaluatedCall,
  PlannedRow,
  PrefillingSequence,
  StepPlan,
  StepPlanner,
  StepState,
} from '../step-planner.ts';
import { ROW_TILE } from '../tuning.ts';

export interface TunedPlannerOptions {
  readonly numCtx: number;
  /** Rows of one native call (n_batch). */
  readonly mostRows: number;
  readonly maxDraftTokens: number;
  /** KV state can be cut at any token; otherwise neither padding nor a rejected draft can be forgotten. */
  readonly canCut: boolean;
  /** Sequences share their KV cells, and then every pass; otherwise only neighbouring ids share one. */
  readonly sharesCells: boolean;
  /** From a tile of rows on, attention reads the KV cache once for all of them. */
  readonly tiles: boolean;
  /** A GPU computes in no such groups of rows, so padding spares nothing there. */
  readonly onGpu: boolean;
  /** Rules that an exact load keeps to; absent: none. */
  readonly exact?: ExactSteps | undefined;
  /** What a decode step of one row took when the thread count was calibrated; null when it was not. */
  readonly calibratedMs: number | null;
  /** Parts left out. */
  readonly without: readonly PlannerPart[];
}

export class TunedPlanner implements StepPlanner {
  readonly maxDraftTokens: number;
  readonly #decode: DecodeCalls;
  readonly #prefill: PrefillCall;

  constructor({
    numCtx,
    mostRows,
    canCut,
    sharesCells,
    tiles,
    onGpu,
    exact,
    without,
    ...options
  }: TunedPlannerOptions) {
    const has = (part: PlannerPart): boolean => !without.includes(part);
    const canPad = canCut && !onGpu && exact === undefined && has('padding');
    this.maxDraftTokens = canCut && has('drafts') ? options.maxDraftTokens : 0;
    this.#decode = new DecodeCalls({
      numCtx,
      maxDraftTokens: this.maxDraftTokens,
      sharesCells,
      apart: exact?.together === false,
    });
    this.#prefill = new PrefillCall({
      mostRows,
      sizesChunks: has('chunk-size'),
      formsBursts: has('bursts'),
      exact: exact === undefined ? null : { ...EXACT_TILES, endsTogether: exact.together },
      tiles: tiles && !onGpu && mostRows >= ROW_TILE ? { numCtx, together: sharesCells, canPad } : null,
    });
    if (options.calibratedMs !== null) this.#decode.observe({ rows: [ROW], ms: options.calibratedMs });
  }

  get prefillMsPerToken(): number {
    return this.#prefill.msPerToken;
  }

  plan({ nowMs, decoding: streams, prefilling }: StepState): StepPlan {
    const ends = prefilling.filter(isEnd).map(({ sequence, position }) => ({ ...ROW, sequence, position }));
    const prompts = prefilling.filter((prompt) => !isEnd(prompt));
    const calls = this.#decode.plan({ streams, ends, mayDraft: prefilling.length === 0 });
    const decodeMs = calls.length === 0 ? null : calls.reduce((sum, { expectedMs }) => sum + expectedMs, 0);
    const prefill = this.#prefill.plan({ nowMs, streams, prompts, decodeMs, rowMs: this.#decode.rowMs });
    return { calls: prefill === null ? calls : [...calls, prefill] };
  }

  observe(call: EvaluatedCall): void {
    const part = call.phase === 'decode' ? this.#decode : this.#prefill;
    part.observe(call);
  }

  lingerMs(promptTokens: number): number {
    return this.#prefill.lingerMs(promptTokens);
  }
}

const ROW: PlannedRow = { kind: 'prefill', sequence: 0, position: 0, tokens: 1, padding: 0 };

/** The last token of a prompt that is cached already costs what a decode row does. */
function isEnd({ remaining }: PrefillingSequence): boolean {
  return remaining === 1;
}
