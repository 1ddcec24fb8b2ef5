/** Opens an embedding model: one context for short inputs and one for longer ones, each for many inputs in a step. */
import { MOST_EMBEDDING_SEQUENCES } from '../../contract/limits.ts';
import type { LoadSpec } from '../../contract/load.ts';
import type { LoadSettings } from '../../contract/settings/shapes.ts';
import type { ContextOptions, LoadOptions, ModelFacts, NativeBackend, NativeContext } from '../native.ts';
import type { EmbeddingModel } from '../model.ts';
import { loadOptions } from './load-options.ts';
import { commonFacts, loadFailure, type OnProgress, throttled } from './load.ts';
import { placedLoads } from './placement.ts';
import { threadsFor, type TypicalStep, tuneThreads } from './threads.ts';

/** What the thread count is measured with. */
const TYPICAL_TOKENS = 32;
/**
 * From so many rows on, flash attention on a CPU adds up in single precision; below, in half precision. So an input that
 * fills a tile by itself has the same vector in every step, and a shorter one would have another in company than alone.
 */
const FLASH_TILE_ROWS = 64;
const SHORT_INPUT = FLASH_TILE_ROWS - 1;
/** Tokens of a step without flash attention, which looks from every token of a step at every other. */
const SHORT_STEP_TOKENS = 128;
/** Tokens of a step with it; more gain nothing on a CPU, and other jobs wait for the end of a step. */
const LONG_STEP_TOKENS = 256;

/** Inputs of so many tokens at most, and how a context for them is opened. */
export interface EmbeddingContextPlan {
  readonly longest: number;
  /** Tokens of one step, unless a single input is longer. */
  readonly tokens: number;
  readonly sequences: number;
  readonly options: ContextOptions;
}

export async function loadEmbedding(
  backend: NativeBackend,
  spec: LoadSpec,
  onProgress: OnProgress,
): Promise<EmbeddingModel> {
  try {
    const options = loadOptions(backend, spec);
    const threads = threadsFor(backend, spec);
    const planned = embeddingContexts(options, { limit: spec.numCtx, threads });
    const [placed] = await placedLoads(backend, { spec, options }, [planned.map((plan) => plan.options)]);
    const model = await backend.openModel(spec.path, placed?.options ?? options, throttled(onProgress));
    const limit = Math.min(spec.numCtx, model.facts.trainedCtx);
    const plans = embeddingContexts(options, { limit, threads });
    const isExact = areVectorsExact(spec.settings, model.facts);
    const contexts = [];
    for (const { options: opened, ...plan } of plans) {
      const context = await model.newContext(opened);
      contexts.push({ ...plan, tokens: isExact ? 1 : stepTokens(plan, context), context });
    }
    const natives = contexts.map(({ context }) => context);
    const tuned = await tuneAll(backend, spec, natives, Math.min(TYPICAL_TOKENS, limit));
    const [first] = natives;
    if (first === undefined) throw new Error('an embedding model has a context');
    const facts = { ...commonFacts(model, natives), numCtx: limit, sequences: 1, ...tuned };
    return {
      spec,
      backend,
      model,
      vocabulary: model.vocabulary,
      limit,
      contexts,
      pooling: first.pooling,
      facts,
    };
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

/**
 * Whether each input is computed by itself. In company the same rows are multiplied in other tiles, which round otherwise:
 * a CPU gains nothing by that, and its vectors would differ from request to request.
 */
function areVectorsExact(
  { exactVectors = 'auto' }: LoadSettings,
  { gpuLayers }: Pick<ModelFacts, 'gpuLayers'>,
): boolean {
  return exactVectors === 'auto' ? gpuLayers === 0 : exactVectors === 'on';
}

/**
 * The last token alone becomes the vector of a decoder, and it rounds what other tokens left in half precision: behind
 * other inputs, where the same sums come in another order, its numbers differ in the fifth digit. A tile is as cheap alone.
 */
function stepTokens(
  { longest, tokens }: Pick<EmbeddingContextPlan, 'longest' | 'tokens'>,
  { pooling }: NativeContext,
): number {
  return pooling === 'last' && longest > SHORT_INPUT ? 1 : tokens;
}

/** Measured with one context, used by all. */
async function tuneAll(
  backend: NativeBackend,
  spec: LoadSpec,
  contexts: readonly NativeContext[],
  tokens: TypicalStep['tokens'],
): ReturnType<typeof tuneThreads> {
  const [context] = contexts;
  if (context === undefined) throw new Error('an embedding model has a context');
  const tuned = await tuneThreads(backend, spec, { context, tokens });
  for (const other of contexts) other.setThreads(tuned.threads);
  return tuned;
}

/**
 * The contexts for inputs of at most `limit` tokens, those for the shortest first; a question about memory opens the
 * same ones as a load. Which one computes an input is decided by its own length alone, or its vector would depend on
 * what else is computed.
 */
export function embeddingContexts(
  options: LoadOptions,
  { limit, threads }: { readonly limit: number; readonly threads: number },
): EmbeddingContextPlan[] {
  const { flashAttention, keyType, valueType, rope } = options;
  const plan = (longest: number, tokens: number, isFlash: boolean | null): EmbeddingContextPlan => {
    // An input is evaluated as a whole, because its tokens look at each other in both directions.
    const batchTokens = roundedUp(Math.max(longest, tokens));
    return {
      longest,
      tokens,
      sequences: MOST_EMBEDDING_SEQUENCES,
      options: {
        sequences: MOST_EMBEDDING_SEQUENCES,
        numCtx: batchTokens,
        unified: true,
        batchTokens,
        microBatchTokens: null,
        logitRows: null,
        threads,
        flashAttention: flashAttention ?? isFlash,
        keyType,
        valueType,
        rope,
        embeddings: true,
      },
    };
  };
  const short = plan(Math.min(SHORT_INPUT, limit), SHORT_STEP_TOKENS, false);
  return limit <= SHORT_INPUT ? [short] : [short, plan(limit, LONG_STEP_TOKENS, null)];
}

/** llama.cpp ends the process where a batch is no multiple of the sequences and the vectors of tokens are averaged. */
function roundedUp(tokens: number): number {
  return Math.ceil(tokens / MOST_EMBEDDING_SEQUENCES) * MOST_EMBEDDING_SEQUENCES;
}
