import type { LoadSpec } from '../../contract/load.ts';
import {
  allContexts,
  type EmbeddingContextPlan,
  embeddingContexts,
  type EmbeddingWay,
  embeddingWay,
  stepTokens,
} from '../embedding/contexts.ts';
import type { NativeBackend, NativeContext, NativeModel } from '../native.ts';
import type { EmbeddingContexts, EmbeddingModel } from '../model.ts';
import { loadOptions, usesDevices } from './load-options.ts';
import { commonFacts, loadFailure, type OnProgress, throttled } from './load.ts';
import { placedLoads } from './placement.ts';
import { threadsFor, type TypicalStep, tuneThreads } from './threads.ts';

const TYPICAL_TOKENS = 32;

export async function loadEmbedding(
  backend: NativeBackend,
  spec: LoadSpec,
  onProgress: OnProgress,
): Promise<EmbeddingModel> {
  try {
    const options = loadOptions(backend, spec);
    const threads = threadsFor(backend, spec);
    const way = chooseWay(backend, spec, threads);
    const planned = embeddingContexts(options, { limit: spec.numCtx, threads, way });
    const [placed] = await placedLoads(backend, { spec, options }, [allContexts(planned)]);
    const model = await backend.openModel(spec.path, placed?.options ?? options, throttled(onProgress));
    const limit = Math.min(spec.numCtx, model.facts.trainedCtx);
    const plans = embeddingContexts(options, { limit, threads, way });
    const contexts: EmbeddingContexts[] = [];
    for (const plan of plans) contexts.push(await openContexts(model, plan));
    const natives = contexts.flatMap(({ context, parallel }) => [context, ...parallel]);
    const tuned = await tuneAll(backend, spec, contexts, Math.min(TYPICAL_TOKENS, limit));
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

export function chooseWay(
  backend: NativeBackend,
  { settings }: Pick<LoadSpec, 'settings'>,
  threads: number,
): EmbeddingWay {
  return embeddingWay(settings, { usesDevices: usesDevices(backend, settings), threads });
}

async function openContexts(
  model: NativeModel,
  { options, parallel: parallelOptions, ...plan }: EmbeddingContextPlan,
): Promise<EmbeddingContexts> {
  const context = await model.newContext(options);
  const parallel: NativeContext[] = [];
  for (const each of parallelOptions) parallel.push(await model.newContext(each));
  return { ...plan, tokens: stepTokens(plan, context.pooling === 'last'), context, parallel };
}

/** Measured with one context, used by all that compute with all threads. */
async function tuneAll(
  backend: NativeBackend,
  spec: LoadSpec,
  contexts: readonly EmbeddingContexts[],
  tokens: TypicalStep['tokens'],
): ReturnType<typeof tuneThreads> {
  const [first] = contexts;
  if (first === undefined) throw new Error('an embedding model has a context');
  const tuned = await tuneThreads(backend, spec, { context: first.context, tokens });
  for (const { context } of contexts) context.setThreads(tuned.threads);
  return tuned;
}
