/** Opens an embedding model: one context per core, because that is how several inputs are computed fastest. */
import { MOST_EMBEDDING_CONTEXTS } from '../../contract/limits.ts';
import type { LoadSpec } from '../../contract/load.ts';
import type { NativeBackend, NativeContext } from '../addon/native.ts';
import type { EmbeddingModel } from '../model.ts';
import { loadOptions } from './load-options.ts';
import { commonFacts, loadFailure, type OnProgress, throttled } from './load.ts';
import { threadsFor, tuneThreads } from './threads.ts';

/** What the thread count for a lone input is measured with. */
const TYPICAL_TOKENS = 32;

export async function loadEmbedding(
  backend: NativeBackend,
  spec: LoadSpec,
  onProgress: OnProgress,
): Promise<EmbeddingModel> {
  try {
    const model = await backend.openModel(spec.path, loadOptions(backend, spec), throttled(onProgress));
    const cores = threadsFor(backend, { ...spec, tunedThreads: null });
    const limit = Math.min(spec.numCtx, model.facts.trainedCtx);
    const count = embeddingContexts(backend, spec);
    const contexts: NativeContext[] = [];
    while (contexts.length < count)
      contexts.push(await model.newEmbeddingContext({ numCtx: limit, threads: cores }));
    const [context] = contexts;
    if (context === undefined) throw new Error('no context');
    const tokens = Math.min(TYPICAL_TOKENS, limit);
    const tuned = await tuneThreads(backend, spec, { context, tokens });
    const facts = commonFacts(model, context);
    return {
      spec,
      backend,
      model,
      vocabulary: model.vocabulary,
      threads: tuned.threads,
      limit,
      contexts,
      facts: {
        ...facts,
        numCtx: limit,
        sequences: count,
        ...tuned,
        contextBytes: facts.contextBytes * count,
      },
    };
  } catch (error) {
    throw loadFailure(spec, error, backend.isOutOfMemory);
  }
}

export function embeddingContexts(backend: NativeBackend, spec: Pick<LoadSpec, 'threads'>): number {
  if (backend.facts.gpu !== 'none') return 1;
  return Math.min(threadsFor(backend, { ...spec, tunedThreads: null }), MOST_EMBEDDING_CONTEXTS);
}
