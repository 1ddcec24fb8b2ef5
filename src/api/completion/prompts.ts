/** The prompts of a text completion: text, or tokens by their ids; one, or several of a kind. */
import type { Prompt } from '../../contract/job.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import { type CompletionRequest, MOST_PROMPTS } from '../../wire/inference/completions.ts';

/** In the order sent; throws what cannot be continued. */
export function readPrompts(body: CompletionRequest): Prompt[] {
  refuseTogether(body);
  const { prompt } = body;
  const sent = typeof prompt === 'string' || isTokens(prompt) ? [prompt] : prompt;
  if (sent.length > MOST_PROMPTS) throw refusal('prompt', `must not hold more than ${MOST_PROMPTS} prompts`);
  return sent.map((each, index) => {
    const param = sent.length === 1 ? 'prompt' : `prompt[${index}]`;
    if (typeof each === 'string') return textPrompt(each, param, body.suffix ?? null);
    if (typeof each === 'number')
      throw refusal(param, 'is a token among prompts; send one list of tokens, or a list of such lists');
    if (body.suffix)
      throw refusal('suffix', 'must not be set beside tokens; put the tokens around the gap yourself');
    return { kind: 'tokens', tokens: [...each] };
  });
}

function isTokens(prompt: readonly (string | number | number[])[]): prompt is number[] {
  return prompt.every((each) => typeof each === 'number');
}

function textPrompt(text: string, param: string, suffix: string | null): Prompt {
  if (text === '') throw refusal(param, 'must not be empty; send the text to continue');
  const behind = suffix === null || suffix === '' ? {} : { suffix: suffix.toWellFormed() };
  return { kind: 'text', text: text.toWellFormed(), ...behind };
}

function refuseTogether({ prompt, echo, logprobs }: CompletionRequest): void {
  if (echo !== true) return;
  if (typeof logprobs === 'number') {
    throw refusal(
      'logprobs',
      'must not be set beside echo: there are none for the tokens of a prompt; ask for one of them',
    );
  }
  if (typeof prompt !== 'string' && prompt.some((each) => typeof each !== 'string'))
    throw refusal('echo', 'must not be set beside tokens; POST /v1/detokenize tells their text');
}

const refusal = (param: string, what: string): SvcError =>
  fail('invalid_request', { param, message: `${param} ${what}.` });
