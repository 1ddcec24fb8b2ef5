/** Makes the cost model and the step planner of a loaded model: the tuned planner unless a benchmark asks for another. */
import { type KvType, kvTypes } from '../../contract/settings/kv-types.ts';
import type { ChatModel } from '../model.ts';
import { CostModel } from './planning/cost-model.ts';
import { PlainPlanner } from './planning/plain-planner.ts';
import type { StepPlanner } from './planning/step-planner.ts';
import { TunedPlanner } from './planning/tuned/tuned-planner.ts';

/** Flash attention of ggml-cpu reads other types row by row, whatever the number of rows. */
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
