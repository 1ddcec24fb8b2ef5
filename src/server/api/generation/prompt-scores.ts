import type { JobEvent, PromptToken } from '../../../contract/job-event.ts';
import type { GenerateJob, ScoredPrompt } from '../../../contract/job.ts';
import { refusal } from '../../../lib/errors/refusal.ts';
import type { PromptLogprobs } from '../../../wire/inference/prompt-logprobs.ts';

interface ScoreFields {
  readonly echo?: boolean | null;
  readonly logprobs?: number | boolean | null;
  readonly prompt_logprobs?: number | null;
  readonly stream?: boolean | null;
}

export function readScoredPrompt(body: ScoreFields): { readonly scoredPrompt?: ScoredPrompt } {
  const asked = body.prompt_logprobs ?? null;
  if (asked !== null && body.stream === true)
    throw refusal('prompt_logprobs', 'must not be set beside stream; leave one of them out');
  const echoed = body.echo === true && typeof body.logprobs === 'number' ? body.logprobs : null;
  if (asked === null && echoed === null) return {};
  return { scoredPrompt: { top: Math.max(asked ?? 0, echoed ?? 0), from: 0 } };
}

/**
 * Chosen: prompt scores per request. As JSON they are about 20 MB, enough for 32 prompts of 4,096 tokens with one
 * alternative each.
 */
export const MOST_PROMPT_SCORES = 262_144;

export class ScoreBudget {
  #left = MOST_PROMPT_SCORES;
  readonly #counted = new Set<GenerateJob>();

  note(job: GenerateJob, event: JobEvent): void {
    if (job.scoredPrompt === undefined) return;
    if (event.type === 'started' && event.promptTokens > 0 && !this.#counted.has(job)) {
      this.#counted.add(job);
      this.#take(event.promptTokens, job.scoredPrompt);
    }
    if (event.type === 'prompt_tokens' && !this.#counted.has(job))
      this.#take(event.tokens.length, job.scoredPrompt);
  }

  #take(tokens: number, { top }: ScoredPrompt): void {
    this.#left -= tokens * (1 + top);
    if (this.#left >= 0) return;
    throw refusal(
      'prompt',
      `has too many tokens to report: tokens and alternatives of all prompts may be ${MOST_PROMPT_SCORES}; send fewer prompts, or ask for fewer alternatives`,
    );
  }
}

/** In vLLM's shape: the token itself first, then the most likely ones. */
export function wirePromptLogprobs(tokens: readonly PromptToken[], top: number): PromptLogprobs {
  return {
    prompt_logprobs: tokens.map(({ id, text, score }) => {
      if (score === null) return null;
      const alternatives = score.top
        .slice(0, top)
        .map(({ id: other = -1, text: named, logprob }, at) => [
          other,
          { logprob, rank: at + 1, decoded_token: named },
        ]);
      const own = [id, { logprob: score.logprob, rank: score.rank, decoded_token: text }];
      return Object.fromEntries([own, ...alternatives.filter(([other]) => other !== id)]);
    }),
    prompt_token_ids: tokens.map(({ id }) => id),
  };
}
