import type { AnswerSoFar } from '../../service/answer-stream.ts';
import type { Measures } from './entry.ts';

export function measuresOf(answer: AnswerSoFar): { measures?: Measures } {
  const { usage, timings, firstMs, window } = answer;
  if (usage === null) return estimateOf(answer);
  const measures = {
    firstMs,
    tokensPerSecond: timings?.predicted_per_second ?? null,
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    answerTokens: usage.completion_tokens,
    draftedTokens: timings?.draft_n_accepted ?? 0,
    ...(window === null ? {} : { window }),
  };
  return { measures };
}

/** For an unfinished answer: the service reports figures last, so these are counted here. */
function estimateOf({ firstMs, lastMs, pieces }: AnswerSoFar): { measures?: Measures } {
  if (firstMs === null) return {};
  const span = lastMs - firstMs;
  const tokensPerSecond = pieces > 1 && span > 0 ? (1000 * (pieces - 1)) / span : null;
  return { measures: { firstMs, tokensPerSecond, answerTokens: pieces, draftedTokens: 0, isEstimate: true } };
}
