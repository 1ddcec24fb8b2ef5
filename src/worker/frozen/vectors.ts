/** Account of a run of vectors: every setting that a record of it names. */
import type { VectorFacts } from '../../contract/frozen.ts';
import { whyNotFrozen } from '../../contract/settings/shapes.ts';
import type { EmbeddingModel } from '../model.ts';
import { libraryExec, unavailable } from './context.ts';

/** Throws if nothing can be signed. */
export function requireVectorAccount({ spec, model, contexts }: EmbeddingModel): void {
  if (model.facts.gpuLayers > 0) throw unavailable('the model has layers on a GPU');
  if (contexts.some(({ sequences }) => sequences > 1)) {
    const reason =
      'its vectors depend on the texts that are computed beside them; set exact_vectors=auto and gpu=off';
    throw unavailable(reason);
  }
  // A replay loads the unchanged file.
  const set = whyNotFrozen(spec.settings);
  if (set !== null) throw unavailable(set);
  if (spec.settings.loadMode !== undefined && !model.facts.usesMmap)
    throw unavailable('the model is set to a load_mode that does not map its file');
}

export function vectorFacts(embedding: EmbeddingModel): VectorFacts {
  const { backend, contexts, limit, pooling, facts } = embedding;
  return {
    exec: {
      numCtx: limit,
      threads: facts.threads,
      contexts: contexts.map(({ longest, context }) => ({
        longest,
        flashAttention: context.flashAttention,
      })),
      pooling,
      ...libraryExec(embedding),
    },
    host: backend.host(),
  };
}
