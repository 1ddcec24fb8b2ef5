/** Loads an embedding model: one context per core, because that is how several inputs are computed fastest. */
import type { Llama } from 'node-llama-cpp';
import type { LoadSpec } from '../engine/load.ts';
import { type NativeContext, nativeEmbeddingContext } from './internals.ts';
import { commonFacts, type LoadedBase, loadFailure, openModel, threadsFor } from './load.ts';
import { openVocabulary } from './vocabulary.ts';

export interface LoadedEmbedding extends LoadedBase {
  readonly kind: 'embedding';
  /** Each computes one input at a time. */
  readonly contexts: readonly NativeContext[];
  readonly threads: number;
  /** Tokens of one input at most, the model's own first and last token included. */
  readonly limit: number;
}

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
    const threads = threadsFor(llama, spec);
    const limit = Math.min(spec.numCtx, model.trainContextSize);
    const count = Math.min(threads, MOST_CONTEXTS, llama.gpu === false ? MOST_CONTEXTS : 1);
    // A whole input must fit into one micro-batch, as every token looks at every other.
    const options = { contextSize: limit, batchSize: limit, threads };
    const opened = [];
    for (let i = 0; i < count; i++)
      opened.push(nativeEmbeddingContext(await model.createEmbeddingContext(options)));
    const [first] = opened;
    if (first === undefined) throw new Error('no context');
    const facts = commonFacts(model, first.context, first.native, spec, vocabulary);
    return {
      kind: 'embedding',
      spec,
      model,
      vocabulary,
      threads,
      limit,
      contexts: opened.map(({ native }) => native),
      facts: {
        ...facts,
        numCtx: limit,
        sequences: count,
        threads,
        contextBytes: facts.contextBytes * count,
        loadMs: performance.now() - started,
      },
    };
  } catch (error) {
    throw loadFailure(spec, error);
  }
}
