import type { Prompt } from '../../../contract/job.ts';
import { refusal } from '../../../lib/errors/refusal.ts';
import {
  type CompletionRequest,
  MOST_PROMPTS,
  type SentPrompt,
} from '../../../wire/inference/completions.ts';

type PromptFields = Pick<CompletionRequest, 'prompt' | 'suffix' | 'echo' | 'logprobs' | 'parse_special'>;

export function readPrompts(body: PromptFields): Prompt[] {
  const sent = splitPrompts(body.prompt);
  refuseTogether(body, sent);
  if (sent.length > MOST_PROMPTS) throw refusal('prompt', `must not hold more than ${MOST_PROMPTS} prompts`);
  const marks = body.parse_special === true ? { readsMarks: true } : {};
  return sent.map((each, index) => {
    const param = sent.length === 1 ? 'prompt' : `prompt[${index}]`;
    if (typeof each === 'string') return { ...textPrompt(each, param, body.suffix ?? null), ...marks };
    if (body.suffix)
      throw refusal('suffix', 'must not be set beside tokens; put the tokens around the gap yourself');
    if (isTokens(each)) return { kind: 'tokens', tokens: [...each] };
    return { kind: 'mixed', parts: groupTokens(each), ...marks };
  });
}

/** A list that contains a token is one prompt. */
function splitPrompts(prompt: CompletionRequest['prompt']): readonly SentPrompt[] {
  if (typeof prompt === 'string') return [prompt];
  const token = prompt.findIndex((each) => typeof each === 'number');
  if (token < 0) return prompt as SentPrompt[];
  if (prompt.every((each) => !Array.isArray(each))) return [prompt as (string | number)[]];
  throw refusal(
    `prompt[${token}]`,
    'is a token among prompts; send one list of tokens, or a list of such lists',
  );
}

function isTokens(prompt: readonly (string | number)[]): prompt is number[] {
  return prompt.every((each) => typeof each === 'number');
}

function groupTokens(prompt: readonly (string | number)[]): (string | number[])[] {
  const parts: (string | number[])[] = [];
  for (const each of prompt) {
    const last = parts.at(-1);
    if (typeof each === 'string') parts.push(each.toWellFormed());
    else if (Array.isArray(last)) last.push(each);
    else parts.push([each]);
  }
  return parts;
}

function textPrompt(text: string, param: string, suffix: string | null): Prompt & { kind: 'text' } {
  const behind = suffix === null || suffix === '' ? {} : { suffix: suffix.toWellFormed() };
  // With a suffix the prefix may be empty: the gap is at the beginning of a file.
  if (text === '' && behind.suffix === undefined)
    throw refusal(param, 'must not be empty; send the text to continue');
  return { kind: 'text', text: text.toWellFormed(), ...behind };
}

function refuseTogether(
  { echo, logprobs, suffix, parse_special }: PromptFields,
  prompts: readonly SentPrompt[],
): void {
  if (parse_special === true && suffix)
    throw refusal('parse_special', 'must not be set beside suffix: text around a gap is read as plain text');
  if (echo !== true) return;
  const hasLogprobs = typeof logprobs === 'number';
  if (hasLogprobs && suffix)
    throw refusal('echo', 'must not be set beside suffix and logprobs; leave one of the three out');
  if (!hasLogprobs && prompts.some((each) => typeof each !== 'string')) {
    throw refusal(
      'echo',
      'must not be set beside tokens without logprobs; POST /v1/detokenize tells their text',
    );
  }
}
