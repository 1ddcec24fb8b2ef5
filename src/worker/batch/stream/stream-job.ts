import type { Preparation, UnheldKeyword } from '../../../contract/job-event.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import type { FrozenFacts } from '../../../contract/frozen.ts';
import type { Answer } from '../../answer/answer.ts';

import type { PromptRun } from '../../media/media-encoder.ts';
import type { LogitTrace } from './logit-trace.ts';

/** Fields of a request for decoding; its conversation, tools and schema end with the preparation. */
type DecodingRequest = Pick<
  GenerateJob,
  | 'jobId'
  | 'lane'
  | 'adapters'
  | 'sampling'
  | 'topLogprobs'
  | 'scoredPrompt'
  | 'stop'
  | 'maxTokens'
  | 'reportsProgress'
  | 'isWhole'
  | 'ignoresEnd'
>;

/** Every token of an answer, the one that ended it included. */
export interface Sampled {
  readonly tokens: readonly number[];
}

/** A job that fits, its prompt in tokens. */
export interface StreamJob {
  readonly job: DecodingRequest;
  readonly prompt: Uint32Array;
  /** The rows of images in it, in order. */
  readonly runs: readonly PromptRun[];
  /** Equal for jobs with equal LoRA adapters, see adapter-groups.ts; empty without any. */
  readonly adapterKey: string;
  /** Owner of the state that it uses and leaves: trust domain and adapters. */
  readonly owner: string;
  /** Tokens of the prompt whose state may be reused; absent: no limit. */
  readonly mostReused?: number | undefined;
  readonly answer: Answer;
  /** End of the part that other conversations also begin with: words of the system and tools; null: not requested. */
  readonly sharedTokens: number | null;
  /** The window of this job, tokens. */
  readonly numCtx: number;
  /** A call that the limit would cut is completed while the window has room; absent: it is cut. */
  readonly endsCalls?: boolean;
  readonly preparation: Preparation;
  /** Changes to the conversation for the template. */
  readonly folds: readonly string[];
  /** Keywords of tools that the grammar does not enforce. */
  readonly unheld: readonly UnheldKeyword[];
  /** Facts of the answer for a record; absent: none. */
  readonly account?: (output: Sampled, trace: LogitTrace) => FrozenFacts;
  /** On the clock of performance.now(). */
  readonly arrivedMs: number;
}

/** A copy, so that a long conversation is not kept in memory while its answer is decoded. */
export function decodingRequest(job: GenerateJob): DecodingRequest {
  const { jobId, lane, adapters, sampling, topLogprobs, stop, maxTokens } = job;
  const { reportsProgress = false, isWhole = false, ignoresEnd = false, scoredPrompt } = job;
  return {
    jobId,
    lane,
    adapters,
    sampling,
    topLogprobs,
    ...(scoredPrompt === undefined ? {} : { scoredPrompt }),
    stop,
    maxTokens,
    reportsProgress,
    isWhole,
    ignoresEnd,
  };
}
