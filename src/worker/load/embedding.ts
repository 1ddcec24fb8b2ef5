/** Opens an embedding model: one context that computes many inputs in a step. */
import { MOST_EMBEDDING_SEQUENCES } from '../../contract/limits.ts';
import type { LoadSpec } from '../../contract/load.ts';
import type { ContextOptions, LoadOptions, NativeBackend } from '../native.ts';
import type { EmbeddingModel } from '../model.ts';
import { loadOptions } from './load-options.ts';
import { commonFacts, loadFailure, type OnProgress, throttled } from './load.ts';
import { threadsFor, tuneThreads } from './threads.ts';

/** What the thread count is measured with. */
const TYPICAL_TOKENS = 32;
/** Tokens of one step; more gain nothing on a CPU, where attention over several inputs grows with their square. */
const STEP_TOKENS = 512;
/**
 * Flash attention sums in half precision over all inputs of a step, so that a vector would depend on its company. Without
 * it, attention takes memory by the square of an input's length; longer ones are computed alone, with it.
 */
const MOST_WITHOUT_FLASH_ATTENTION = 2048;

export async function loadEmbedding(
  backend: NativeBackend,
  spec: LoadSpec,
  onProgress: OnProgress,
): Promise<EmbeddingModel> {
  try {
    const options = loadOptions(backend, spec);
    const model = await backend.openModel(spec.path, options, throttled(onProgress));
    const limit = Math.min(spec.numCtx, model.facts.trainedCtx);
    const context = await model.newContext(
      embeddingContext(options, { limit, threads: threadsFor(backend, spec) }),
    );
    const tokens = Math.min(TYPICAL_TOKENS, limit);
    const tuned = await tuneThreads(backend, spec, { context, tokens });
    return {
      spec,
      backend,
      model,
      vocabulary: model.vocabulary,
      limit,
      context,
      sequences: MOST_EMBEDDING_SEQUENCES,
      stepTokens: limit > MOST_WITHOUT_FLASH_ATTENTION ? 1 : STEP_TOKENS,
      facts: { ...commonFacts(model, context), numCtx: limit, sequences: 1, ...tuned },
    };
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

/** The context for inputs of at most so many tokens; a question about memory opens the same one as a load. */
export function embeddingContext(
  options: LoadOptions,
  { limit, threads }: { readonly limit: number; readonly threads: number },
): ContextOptions {
  const { flashAttention, keyType, valueType, rope } = options;
  // An input is evaluated as a whole, because its tokens look at each other in both directions.
  const batchTokens = Math.max(limit, STEP_TOKENS);
  return {
    sequences: MOST_EMBEDDING_SEQUENCES,
    numCtx: batchTokens,
    unified: true,
    batchTokens,
    logitRows: null,
    threads,
    flashAttention: flashAttention ?? (limit > MOST_WITHOUT_FLASH_ATTENTION ? null : false),
    keyType,
    valueType,
    rope,
    embeddings: true,
  };
}
