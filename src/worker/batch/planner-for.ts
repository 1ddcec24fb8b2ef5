import { type KvType, kvTypes } from '../../contract/settings/kv-types.ts';
import type { ChatModel } from '../model.ts';
import { CostModel } from './planning/cost-model.ts';
import type {
  StepPlanner,
  EvaluatedCall,
  PlannedCall,
  StepPlan,
  StepState,
} from './planning/step-planner.ts';
import { TunedPlanner } from './planning/tuned-planner.ts';
import { ASSUMED_PREFILL_MS_PER_TOKEN, PLAIN_CHUNK_TOKENS } from './planning/tuning.ts';

/** ggml-cpu's flash attention reads other types row by row, whatever the number of rows. */
const TILED_TYPES: readonly KvType[] = ['f16', 'f32'];

export function costModelFor({ context, facts, spec, sharedCells }: ChatModel): CostModel {
  const { k, v } = kvTypes(spec.settings);
  const costs = new CostModel({
    attention: context.flashAttention ? 'flash' : 'plain',
    readsByTile: facts.gpuLayers === 0 && k === v && TILED_TYPES.includes(k),
    bytesPerCell: facts.contextBytes / (sharedCells ?? facts.sequences * facts.numCtx),
  });
  const calibrated = facts.calibration.find(({ threads }) => threads === facts.threads);
  if (calibrated !== undefined)
    costs.observe({ phase: 'decode', rows: 1, cells: 0 }, 1000 / calibrated.tokensPerS);
  return costs;
}

export function plannerFor(
  { context, facts, spec, prefixReuse, sharedCells, exact }: ChatModel,
  costs: CostModel,
): StepPlanner {
  if (spec.planner?.kind === 'plain' && exact === undefined) return new PlainPlanner();
  return new TunedPlanner({
    costs,
    numCtx: facts.numCtx,
    mostRows: context.batchTokens,
    maxDraftTokens: exact === undefined ? spec.draftTokens : 0,
    canCut: prefixReuse === 'full',
    exact,
    sharesCells: sharedCells !== null,
    onGpu: facts.gpuLayers > 0,
    without: spec.planner?.without ?? [],
  });
}

/**
 * Baseline that the tuned planner has to beat (bench: planner): every decode row in one call, then one bounded chunk
 * of the oldest prompt. It does not pad, draft or measure.
 */
export class PlainPlanner implements StepPlanner {
  readonly maxDraftTokens = 0;
  #decodeMs = 0;

  plan({ decoding, prefilling }: StepState): StepPlan {
    const [next] = [...prefilling].sort((a, b) => a.arrivedMs - b.arrivedMs);
    const tokens = Math.min(next?.remaining ?? 0, PLAIN_CHUNK_TOKENS);
    const calls: readonly PlannedCall[] = [
      {
        phase: 'decode',
        rows: decoding.map(({ sequence, position }) => ({
          kind: 'decode',
          sequence,
          position,
          tokens: 1,
          padding: 0,
        })),
        expectedMs: this.#decodeMs,
      },
      {
        phase: 'prefill',
        rows: next
          ? [{ kind: 'prefill', sequence: next.sequence, position: next.position, tokens, padding: 0 }]
          : [],
        expectedMs: tokens * ASSUMED_PREFILL_MS_PER_TOKEN,
      },
    ];
    return { calls: calls.filter(({ rows }) => rows.length > 0) };
  }

  observe({ phase, ms }: EvaluatedCall): void {
    if (phase === 'decode') this.#decodeMs = ms;
  }

  lingerMs(): number {
    return 0;
  }
}
