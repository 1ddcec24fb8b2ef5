/** The job of a recorded request: the content comes from the request, the execution from the record. */
import type { FrozenPins } from '../../../contract/frozen.ts';
import type { GenerateJob } from '../../../contract/job.ts';
import { Sampling } from '../../../contract/sampling-shapes.ts';
import { fail, type SvcError } from '../../../lib/errors/svc-error.ts';
import { withoutSpellings } from '../../../lib/json/spelled-numbers.ts';
import { claimedSampling } from '../../../trust/evidence/stated-sampling.ts';
import type { Predicate } from '../../../trust/evidence/statement.ts';
import { canonicalSha256 } from '../../../trust/identity/canonical.ts';
import { ChatRequest } from '../../../wire/inference/chat.ts';
import { CompletionRequest } from '../../../wire/inference/completions.ts';
import { NO_CHAT } from '../completion/plan.ts';
import { readPrompts } from '../completion/prompts.ts';
import type { JobContent } from '../generation/choices.ts';
import { type GenerationFields, readSampling, readStop, readTokenRules } from '../generation/parameters.ts';
import { readAnswerFormat } from '../intake/answer-format.ts';
import { requestRoute } from './check-claims.ts';
import { readContent } from '../dialects/chat-completions/content.ts';
import { Check } from 'typebox/value';

export interface RecordedRun {
  readonly claimed: Predicate;
  readonly request: unknown;
  readonly pins: FrozenPins;
}

/** `defaultStop`: stop strings that the installed model adds to requests without any. */
export function replayJob(run: RecordedRun, defaultStop: readonly string[]): GenerateJob {
  const { claimed, pins } = run;
  const { request, content } = readAsked(run);
  const { sampling } = claimed;
  const isNamed = request.stop !== null && request.stop !== undefined;
  const stop = isNamed ? readStop(request.stop) : [...defaultStop];
  if (canonicalSha256(stop) !== sampling.stop_sha256)
    throw notComparable('other stop strings apply here, because the model was installed with other defaults');
  const settings = claimedSampling(claimed, readSampling(request));
  if (!Check(Sampling, settings))
    throw notComparable('its sampling settings are outside what this engine accepts');
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
    // A check of claimed tokens has the only lane to itself.
    lane: pins.claimedTokens === null && claimed.exec.lane === 'exact' ? 'exact' : 'frozen',
    frozen: pins,
  };
}

function readAsked({ claimed, request }: RecordedRun): {
  readonly request: GenerationFields;
  readonly content: JobContent;
} {
  const { route } = claimed.request;
  if (route === undefined && Check(ChatRequest, request))
    return { request, content: readContent(withoutSpellings(request)) };
  if (route !== undefined && Check(CompletionRequest, request)) {
    const [prompt, ...others] = readPrompts(request);
    if (prompt !== undefined && others.length === 0) {
      const topLogprobs = request.logprobs ?? null;
      return { request, content: { ...NO_CHAT, prompt, format: readAnswerFormat(request), topLogprobs } };
    }
  }
  throw notComparable(`the request is not one for ${requestRoute(claimed.request)} with one answer`);
}

export const notComparable = (reason: string, cause?: unknown): SvcError =>
  fail('record_not_comparable', { reason }, cause);

export const MEASURED_AGAIN = 'speed and memory differ from run to run; measure again with hearth eval';
