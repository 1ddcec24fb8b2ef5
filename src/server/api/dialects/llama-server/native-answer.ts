import type { GenerateJob } from '../../../../contract/job.ts';
import type { DoneEvent, SampledToken, TokenLogprob } from '../../../../contract/job-event.ts';
import { SAMPLING_ROWS } from '../../../../contract/sampling-shapes.ts';
import type { CompletionProbability, NativeAnswer } from '../../../../wire/llama-server.ts';
import { wireTimings } from '../../generation/usage.ts';

export interface Said {
  readonly text: string;
  readonly tokens: readonly SampledToken[];
}

export interface Answered {
  readonly index: number;
  readonly job: GenerateJob;
  readonly model: string;
  readonly done: DoneEvent;
}

/** `shown`: the text that the last chunk repeats, empty in a stream. */
export function nativeAnswer({ index, job, model, done }: Answered, said: Said, shown: Said): NativeAnswer {
  const { usage, finishReason, stopString } = done;
  return {
    index,
    content: shown.text,
    tokens: tokenIds(shown.tokens),
    stop: true,
    model,
    tokens_predicted: usage.completionTokens,
    tokens_evaluated: usage.promptTokens,
    tokens_cached: usage.promptTokens + usage.completionTokens,
    generation_settings: generationSettings(job),
    prompt: job.prompt.kind === 'text' ? job.prompt.text : null,
    has_new_line: said.text.includes('\n'),
    truncated: false,
    stop_type: finishReason === 'length' ? 'limit' : stopString === undefined ? 'eos' : 'word',
    stopping_word: stopString ?? '',
    timings: wireTimings(done),
    ...probabilities(job, shown.tokens),
  };
}

export function probabilities(
  { topLogprobs }: GenerateJob,
  tokens: readonly SampledToken[],
): { readonly completion_probabilities?: CompletionProbability[] } {
  if (topLogprobs === null || topLogprobs === 0 || tokens.length === 0) return {};
  return {
    completion_probabilities: tokens.map(({ chosen, top }) => ({
      ...wireToken(chosen),
      top_logprobs: top.map(wireToken),
    })),
  };
}

export function tokenIds(tokens: readonly SampledToken[]): number[] {
  return tokens.flatMap(({ chosen: { id } }) => (id === undefined ? [] : [id]));
}

function wireToken({ id, text, bytes, logprob }: TokenLogprob) {
  return { id: id ?? -1, token: text, bytes, logprob };
}

function generationSettings({ sampling, maxTokens, stop, topLogprobs, ignoresEnd, adapters }: GenerateJob) {
  const options = SAMPLING_ROWS.flatMap(([option, { wire, fallback }]) => {
    const value = sampling[option] ?? fallback;
    return value === undefined ? [] : [[wire, value]];
  });
  return {
    ...Object.fromEntries(options),
    n_predict: maxTokens ?? -1,
    max_tokens: maxTokens ?? -1,
    stop,
    ignore_eos: ignoresEnd === true,
    n_probs: topLogprobs ?? 0,
    lora: adapters,
  };
}

/** `a/b` selects member b of a, and the result keeps that name. */
export function withFields(answer: object, fields: readonly string[] | null | undefined): object {
  if (!fields || fields.length === 0) return answer;
  const found = fields.map((name) => [name, name.split('/').reduce<unknown>(readMember, answer)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

function readMember(value: unknown, name: string): unknown {
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isThere ? Reflect.get(value, name) : undefined;
}
