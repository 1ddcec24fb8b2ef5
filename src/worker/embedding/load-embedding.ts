/** Loads an embedding model: one context per core, because that is how several inputs are computed fastest. */
import type { Llama } from 'node-llama-cpp';
import type { LoadSpec } from '../../contract/load.ts';
import { type NativeContext, nativeEmbeddingContext } from '../addon/internals.ts';
import {
  commonFacts,
  type LoadedBase,
  loadFailure,
  openModel,
  threadsFor,
  tuneThreads,
} from '../addon/load.ts';
import { openVocabulary } from '../addon/vocabulary.ts';

export interface LoadedEmbedding extends LoadedBase {
  readonly kind: 'embedding';
  /** Each computes one input at a time. */
  readonly contexts: readonly NativeContext[];
  /** For an input that is computed alone; several at once take one thread each. */
  readonly threads: number;
  /** Tokens of one input at most, the model's own first and last token included. */
  readonly limit: number;
}

/** What the thread count for a lone input is measured with. */
const TYPICAL_TOKENS = 32;
/** More contexts cost memory and contend for it; beyond this nothing was gained. */
const MOST_CONTEXTS = 8;

export async function loadEmbedding(
  llama: Llama,
  spec: LoadSpec,
  onProgress: (fraction: number) => void,
): Promise<LoadedEmbedding> {
  const started = performance.now();
  try {
    const model = await openModel(llama, spec, onProgress);
    const vocabulary = openVocabulary(model);
    const cores = spec.threads ?? threadsFor(llama, { ...spec, tunedThreads: null });
    const limit = Math.min(spec.numCtx, model.trainContextSize);
    const count = Math.min(cores, MOST_CONTEXTS, llama.gpu === false ? MOST_CONTEXTS : 1);
    // A whole input must fit into one micro-batch, as every token looks at every other.
    const options = { contextSize: limit, batchSize: limit, threads: cores };
    const opened = [];
    for (let i = 0; i < count; i++)
      opened.push(nativeEmbeddingContext(await model.createEmbeddingContext(options)));
    const [first] = opened;
    if (first === undefined) throw new Error('no context');
    const tuned = await tuneThreads(llama, spec, first.native, Math.min(TYPICAL_TOKENS, limit));
    const facts = commonFacts(model, first.context, first.native, spec, vocabulary);
    return {
      kind: 'embedding',
      spec,
      model,
      vocabulary,
      threads: tuned.threads,
      limit,
      contexts: opened.map(({ native }) => native),
      facts: {
        ...facts,
        numCtx: limit,
        sequences: count,
        ...tuned,
        contextBytes: facts.contextBytes * count,
        loadMs: performance.now() - started,
      },
    };
  } catch (error) {
    throw loadFailure(spec, error);
  }
}
