import type { GenerateJob } from '../../../contract/job.ts';
import type { Answer } from '../../answer/answer.ts';

/** A job that fits, its prompt in tokens. */
export interface StreamJob {
  readonly job: GenerateJob;
  readonly prompt: Uint32Array;
  readonly answer: Answer;
  /** The window of this job, tokens. */
  readonly numCtx: number;
  /** On the clock of performance.now(). */
  readonly arrivedMs: number;
}
