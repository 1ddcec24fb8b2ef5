/** The job of a recorded request: what was said comes from the request, how it was computed from the record. */
import type { FrozenPins } from '../../contract/frozen.ts';
import type { GenerateJob } from '../../contract/job.ts';
import { Sampling } from '../../contract/sampling-shapes.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import { withoutSpellings } from '../../lib/json/spelled-numbers.ts';
import { claimedSampling } from '../../trust/evidence/stated-sampling.ts';
import type { Predicate } from '../../trust/evidence/statement.ts';
import { canonicalSha256 } from '../../trust/identity/canonical.ts';
import { ChatRequest } from '../../wire/inference/chat.ts';
import { readSampling, readStop, readTokenRules } from '../generation/parameters.ts';
import { readContent } from '../dialects/chat-completions/content.ts';
import { Check } from 'typebox/value';

export interface RecordedRun {
  readonly claimed: Predicate;
  /** The body that was answered, as it was read from its file. */
  readonly request: unknown;
  readonly pins: FrozenPins;
}

/** `defaultStop` are the stop strings that the installed model adds to requests without any. */
export function replayJob(run: RecordedRun, defaultStop: readonly string[]): GenerateJob {
  const { claimed, request, pins } = run;
  if (!Check(ChatRequest, request)) throw notComparable('the request is not a chat request');
  const { sampling } = claimed;
  const isNamed = request.stop !== null && request.stop !== undefined;
  const stop = isNamed ? readStop(request.stop) : [...defaultStop];
  if (canonicalSha256(stop) !== sampling.stop_sha256)
    throw notComparable('other stop strings apply here, because the model was installed with other defaults');
  const settings = claimedSampling(claimed, readSampling(request));
  if (!Check(Sampling, settings))
    throw notComparable('its sampling settings are outside what this engine accepts');
  const content = readContent(withoutSpellings(request));
  return {
    kind: 'generate',
    jobId: 'replay',
    ...content,
    ...readTokenRules(request, content),
    sampling: settings,
    adapters: [],
    maxTokens: sampling.num_predict,
    numCtx: null,
    stop,
    templateClockMs: Date.parse(claimed.prompt.template_clock),
    // A check of claimed tokens has the lone lane to itself.
    lane: pins.claimedTokens === null && claimed.exec.lane === 'exact' ? 'exact' : 'frozen',
    frozen: pins,
  };
}

/** The record cannot be repeated here, for a reason that is no fault of it. */
export const notComparable = (reason: string, cause?: unknown): SvcError =>
  fail('record_not_comparable', { reason }, cause);
