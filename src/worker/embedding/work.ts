import type { EmbedJob, Job, RankJob } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { normalise } from '../../lib/base/vector.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { EmbeddingModel } from '../model.ts';
import { type EmbedInput, embedInputs } from './embed-input.ts';
import { sha256OfTokens } from '../frozen/token-bytes.ts';
import { rankInputs } from './rank-input.ts';
import type { VectorFacts } from '../../contract/frozen.ts';
import { whyNotFrozen } from '../../contract/settings/shapes.ts';
import { libraryExec, unavailable } from '../frozen/context.ts';

export interface Work {
  readonly jobId: string;
  /** In the order of computation; inputs are removed when their step begins. */
  readonly inputs: EmbedInput[];
  /** Its vectors have a record, so they must not depend on other work. */
  readonly accounts?: true;
  /** One event for each index of the input. Throws if the values are invalid. */
  toEvents(input: EmbedInput, values: Float32Array): JobEvent[];
  ended(sums: Sums): JobEvent;
}

interface Sums {
  readonly totalTokens: number;
  readonly computeMs: number;
}

export function planWork(model: EmbeddingModel, job: Job): Work {
  const ranks = model.pooling === 'rank';
  if (job.kind === 'embed' && !ranks) return embedWork(model, job);
  if (job.kind === 'rank' && ranks) return rankWork(model, job);
  throw fail('wrong_model_kind', {
    kind: ranks ? 'rerank' : 'embedding',
    model: model.spec.modelId,
    ...(job.kind === 'embed'
      ? { use: 'embeddings', wanted: 'embedding' }
      : job.kind === 'rank'
        ? { use: 'reranking', wanted: 'rerank' }
        : { use: 'chat completions', wanted: 'chat' }),
  });
}

function embedWork(model: EmbeddingModel, job: EmbedJob): Work {
  const { vocabulary, limit } = model;
  const accounts = job.accounts === true;
  if (accounts) requireVectorAccount(model);
  return {
    jobId: job.jobId,
    inputs: embedInputs(vocabulary, job, limit),
    ...(accounts && { accounts }),
    toEvents: (input, values) => {
      const vector = unitVector(values, input);
      const facts = {
        ...inputFacts(input),
        ...(accounts && { tokensSha256: sha256OfTokens(input.tokens) }),
      };
      return input.indexes.map((index) => ({ type: 'embedding', index, vector, ...facts }));
    },
    ended: (sums) => ({
      type: 'embedded',
      ...sums,
      ...(accounts && { account: vectorFacts(model) }),
    }),
  };
}

function rankWork(model: EmbeddingModel, job: RankJob): Work {
  return {
    jobId: job.jobId,
    inputs: rankInputs(model, job),
    toEvents: (input, values) => {
      // Of several classes the first one means relevance.
      const score = values[0] ?? Number.NaN;
      if (!Number.isFinite(score)) throw new Error(`the score of document ${input.indexes[0]} is not finite`);
      return input.indexes.map((index) => ({ type: 'score', index, score, ...inputFacts(input) }));
    },
    ended: (sums) => ({ type: 'ranked', ...sums }),
  };
}

function inputFacts({ tokens, truncated }: EmbedInput): { tokens: number; truncated: boolean } {
  return { tokens: tokens.length, truncated };
}

/** A job has up to thousands of inputs, so the error names the one with the invalid vector. */
function unitVector(values: Float32Array, { indexes }: EmbedInput): Float32Array {
  try {
    return normalise(values);
  } catch (cause) {
    throw new Error(`the embedding of input ${indexes[0]} is not finite`, { cause });
  }
}

function requireVectorAccount({ spec, model, contexts }: EmbeddingModel): void {
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

function vectorFacts(embedding: EmbeddingModel): VectorFacts {
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
