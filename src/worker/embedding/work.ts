/** Inputs and events of an embed or rank job: its inputs, and what is said of each and at the end. */
import type { EmbedJob, Job, RankJob } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import { normalise } from '../../lib/base/vector.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { EmbeddingModel } from '../model.ts';
import { type EmbedInput, embedInputs } from './embed-input.ts';
import { sha256OfTokens } from '../frozen/token-bytes.ts';
import { requireVectorAccount, vectorFacts } from '../frozen/vectors.ts';
import { rankInputs } from './rank-input.ts';

export interface Work {
  readonly jobId: string;
  /** In the order in which they are computed; taken out when their step begins. */
  readonly inputs: EmbedInput[];
  /** Its vectors have a record, so they must not depend on other work. */
  readonly accounts?: true;
  /** One event for each index of the input. Throws when the values are not a result. */
  told(input: EmbedInput, values: Float32Array): JobEvent[];
  ended(totalTokens: number): JobEvent;
}

/** Throws when the model cannot do the job, or an input is refused. */
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
    told: (input, values) => {
      const vector = unitVector(values, input);
      const facts = {
        ...inputFacts(input),
        ...(accounts && { tokensSha256: sha256OfTokens(input.tokens) }),
      };
      return input.indexes.map((index) => ({ type: 'embedding', index, vector, ...facts }));
    },
    ended: (totalTokens) => ({
      type: 'embedded',
      totalTokens,
      ...(accounts && { account: vectorFacts(model) }),
    }),
  };
}

function rankWork(model: EmbeddingModel, job: RankJob): Work {
  return {
    jobId: job.jobId,
    inputs: rankInputs(model, job),
    told: (input, values) => {
      // Of several classes the first one means relevance.
      const score = values[0] ?? Number.NaN;
      if (!Number.isFinite(score)) throw new Error(`the score of document ${input.indexes[0]} is not finite`);
      return input.indexes.map((index) => ({ type: 'score', index, score, ...inputFacts(input) }));
    },
    ended: (totalTokens) => ({ type: 'ranked', totalTokens }),
  };
}

function inputFacts({ tokens, truncated }: EmbedInput): { tokens: number; truncated: boolean } {
  return { tokens: tokens.length, truncated };
}

/** A job has up to thousands of inputs, so the failure names the one with the invalid vector. */
function unitVector(values: Float32Array, { indexes }: EmbedInput): Float32Array {
  try {
    return normalise(values);
  } catch (cause) {
    throw new Error(`the embedding of input ${indexes[0]} is not finite`, { cause });
  }
}
