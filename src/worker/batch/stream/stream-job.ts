import type { Preparation, UnheldKeyword } from '../../../contract/job-event.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import type { FrozenFacts } from '../../../contract/frozen.ts';
import type { Answer } from '../../answer/answer.ts';

import type { PromptRun } from '../../media/media-encoder.ts';
import type { LogitTrace } from './logit-trace.ts';

/** Fields of a request for decoding, without the conversation, tools and schema, which only preparation needs. */
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

export interface Sampled {
  readonly tokens: readonly number[];
}

export interface StreamJob {
  readonly job: DecodingRequest;
  readonly prompt: Uint32Array;
  readonly runs: readonly PromptRun[];
  readonly adapterKey: string;
  readonly owner: string;
  readonly mostReused?: number | undefined;
  readonly answer: Answer;
  /** End of the part that other conversations also begin with (system text and tools); null: not requested. */
  readonly sharedTokens: number | null;
  readonly numCtx: number;
  /** Complete a call beyond the token limit while the window has room. */
  readonly endsCalls?: boolean;
  readonly preparation: Preparation;
  readonly folds: readonly string[];
  readonly unheld: readonly UnheldKeyword[];
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
