/** The step planner of a loaded model: the tuned one, unless the load asks for another to measure it. */
import { type KvType, kvTypes } from '../../contract/settings/kv-types.ts';
import type { ChatModel } from '../model.ts';
import { PlannerByAttention } from './attention/planner-by-attention.ts';
import { PlainPlanner } from './planning/plain-planner.ts';
import type { StepPlanner } from './planning/step-planner.ts';
import { TunedPlanner } from './planning/tuned/tuned-planner.ts';

/** Flash attention of ggml-cpu reads others row by row, however many rows there are. */
const TILED_TYPES: readonly KvType[] = ['f16', 'f32'];

export function plannerFor(chat: ChatModel): StepPlanner {
  if (chat.spec.planner?.kind === 'plain' && chat.exact === undefined) return new PlainPlanner();
  return new PlannerByAttention(chat.context, (flashAttention) => tunedPlanner(chat, flashAttention));
}

function tunedPlanner(
  { context, facts, spec, prefixReuse, sharedCells, exact }: ChatModel,
  flashAttention: boolean,
): StepPlanner {
  const { k, v } = kvTypes(spec.settings);
  const calibrated = facts.calibration.find(({ threads }) => threads === facts.threads);
  return new TunedPlanner({
    numCtx: facts.numCtx,
    mostRows: context.batchTokens,
    maxDraftTokens: exact === undefined ? spec.draftTokens : 0,
    canCut: prefixReuse === 'full',
    exact,
    sharesCells: sharedCells !== null,
    tiles: flashAttention && k === v && TILED_TYPES.includes(k),
    onGpu: facts.gpuLayers > 0,
    calibratedMs: calibrated === undefined ? null : 1000 / calibrated.tokensPerS,
    without: spec.planner?.without ?? [],
  });
}
