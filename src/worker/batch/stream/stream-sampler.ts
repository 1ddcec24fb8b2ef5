import { randomInt } from 'node:crypto';
import type { SampledToken } from '../../../contract/job-event.ts';
import { RANDOM_DEVICE_SEED } from '../../../contract/sampling.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { withoutRows } from '../../media/rows.ts';
import type { NativeContext, NativeGrammar, NativeSampler } from '../../native.ts';
import type { ChatModel } from '../../model.ts';
import { Logprobs } from './logprobs.ts';
import type { StreamJob } from './stream-job.ts';

export interface Sampled {
  readonly token: number;
  readonly reported: SampledToken | null;
}

interface AnswerSoFar {
  readonly tokens: readonly number[];
  readonly avoided: number | null;
}

export class StreamSampler {
  readonly #job: StreamJob;
  readonly #sampler: NativeSampler;
  readonly #logprobs: Logprobs | null;
  readonly #seed: number;
  readonly #modelId: string;
  #grammar: NativeGrammar | null = null;
  #configured = false;

  constructor({ model, vocabulary, spec }: Pick<ChatModel, 'model' | 'vocabulary' | 'spec'>, job: StreamJob) {
    const { topLogprobs, sampling } = job.job;
    this.#job = job;
    this.#sampler = model.newSampler();
    this.#logprobs = topLogprobs === null ? null : new Logprobs(vocabulary, topLogprobs);
    this.#seed = samplerSeed(sampling.seed);
    this.#modelId = spec.modelId;
  }

  sample(context: NativeContext, logitRow: number, { tokens, avoided }: AnswerSoFar): Sampled {
    this.#configure(tokens);
    if (tokens.length === 0) this.#checkNumbers(context, logitRow);
    const sampled = context.sample(logitRow, this.#sampler);
    if (sampled === null) throw noToken();
    const free = sampled === avoided ? nextLikeliest(context, logitRow, sampled) : sampled;
    const token = this.#job.answer.constraint?.forcedToken() ?? free;
    const reported = this.#logprobs?.report(context, logitRow, token) ?? null;
    return { token, reported };
  }

  dispose(): void {
    this.#sampler.dispose();
  }

  /**
   * Weights with NaN or infinity make every logit NaN, and the choice arbitrary. Checked once per answer, because it
   * reads all logits.
   */
  #checkNumbers(context: NativeContext, logitRow: number): void {
    if (Number.isFinite(context.readLogits(logitRow, { tokens: [], largest: 1 }).largest)) return;
    const reason = 'it computes values that are no numbers, as damaged or badly converted weights do';
    throw fail('load_failed', { model: this.#modelId, reason });
  }

  /** The chain keeps its random state and its penalties between tokens; only another grammar needs another chain. */
  #configure(tokens: readonly number[]): void {
    const { job, prompt, numCtx } = this.#job;
    const grammar = this.#job.answer.constraint?.grammar() ?? null;
    if (this.#configured && grammar === this.#grammar) return;
    const recentTokens = withoutRows([...prompt, ...tokens]);
    this.#sampler.configure({
      sampling: job.sampling,
      seed: this.#seed,
      grammar,
      recentTokens,
      numCtx,
      // Breaks ties like llama.cpp's own chain, which replays of records depend on.
      allCandidates: job.lane !== 'shared',
    });
    this.#grammar = grammar;
    this.#configured = true;
  }
}

/** The sampler has already added the token to its penalties, which does no harm. */
function nextLikeliest(context: NativeContext, logitRow: number, avoided: number): number {
  const { of } = context.readLogits(logitRow, { tokens: [], largest: 2 });
  const [likeliest] = of.filter(({ token }) => token !== avoided).sort((a, b) => b.logit - a.logit);
  return likeliest?.token ?? avoided;
}

function noToken(): Error {
  return fail('invalid_request', {
    message:
      'No token of this model can continue the answer, because the grammar, the schema or the banned tokens leave none; allow more.',
  });
}

/** LLAMA_DEFAULT_SEED means random in the library, so its neighbour replaces it. */
function samplerSeed(seed: number | undefined): number {
  if (seed === undefined) return randomInt(RANDOM_DEVICE_SEED);
  return seed === RANDOM_DEVICE_SEED ? RANDOM_DEVICE_SEED - 1 : seed;
}
