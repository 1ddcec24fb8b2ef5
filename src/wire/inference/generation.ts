/**
 * wire/inference owns the shapes of chat, completions, embeddings and the tool protocol. It knows no defaults and no
 * use case. This file: request fields that chat and text completion share, and the usage object of both.
 */
import { type Static, Type } from 'typebox';
import { HEADERS } from '../headers.ts';
import {
  type AskedValue,
  SAMPLING_ROWS,
  type SamplingOption,
  type WireName,
} from '../../contract/sampling-shapes.ts';
import { MOST_ADAPTERS, MOST_SCALE } from '../../contract/settings/values.ts';
import { KeepAlive, nullable } from '../schema.ts';

export interface AskedAdapter {
  name: string;
  scale?: number | null;
}

type SamplingFields = {
  [K in SamplingOption as WireName<K>]: ReturnType<typeof nullable<AskedValue<K>>>;
};

export const samplingFields = Object.fromEntries(
  SAMPLING_ROWS.map(([, { wire, schema, request }]) => {
    const { type, ...keywords } = { type: 'number' as string | string[], ...(request ?? schema) };
    return [wire, nullable(type, keywords)];
  }),
) as SamplingFields;

export const generationFields = {
  ...samplingFields,
  max_tokens: nullable<number>('integer', { minimum: -1, description: 'Alias of num_predict.' }),
  num_predict: nullable<number>('integer', {
    minimum: -1,
    description:
      'Tokens to generate at most; -1 is unlimited, 0 evaluates the prompt only. The smallest of the aliases wins.',
  }),
  max_completion_tokens: nullable<number>('integer', { minimum: -1, description: 'Alias of num_predict.' }),
  n_predict: nullable<number>('integer', {
    minimum: -1,
    description: 'Alias of num_predict, as llama-server names it.',
  }),
  num_ctx: nullable<number>('integer', {
    minimum: 1,
    description: `Requested context window, honoured up to the trained context and the memory plan; ${HEADERS.numCtx} says what was used.`,
  }),
  stream: nullable<boolean>('boolean', { description: 'true selects a server-sent-event stream.' }),
  stream_options: nullable<{ include_usage?: boolean | null }>('object', {
    properties: { include_usage: { type: ['boolean', 'null'] } },
  }),
  stop: Type.Optional(
    Type.Unsafe<string | string[] | null>({
      type: ['string', 'array', 'null'],
      maxLength: 4096,
      maxItems: 64,
      items: { type: 'string', minLength: 1, maxLength: 4096 },
    }),
  ),
  return_progress: nullable<boolean>('boolean', {
    description: 'true lets a stream say in prompt_progress how far the prompt is evaluated.',
  }),
  ignore_eos: nullable<boolean>('boolean', {
    description:
      'true lets no token end the answer; only the limit or a stop string does. Without effect on JSON and grammars.',
  }),
  keep_alive: KeepAlive,
  n: nullable<number>('integer', {
    minimum: 1,
    maximum: 128,
    description: 'Answers to generate, at most the slots of the model.',
  }),
  lora: Type.Optional(
    Type.Unsafe<AskedAdapter[] | null>({
      type: ['array', 'null'],
      maxItems: MOST_ADAPTERS,
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 512 },
          scale: { type: ['number', 'null'], minimum: -MOST_SCALE, maximum: MOST_SCALE },
        },
      },
      description:
        'LoRA adapters of the model by name, each with a scale (1 if absent); those that are not named do not apply. Absent: as the model is set.',
    }),
  ),
  prompt_cache_key: nullable<string>('string', {
    maxLength: 1024,
    description: 'Names the conversation: of several upstreams of a model, the same one gets it.',
  }),
  svc_resume: nullable<boolean>('boolean', {
    description:
      'true: an answer whose upstream fails in the middle may go on at another one with the same weights; the last chunk says so in svc_resumed.',
  }),
  svc_exact: nullable<boolean>('boolean', {
    description:
      'true: the answer is the same whenever this request is made of this model; 400 where the model is not loaded that way (hearth set ID exact=on).',
  }),
  grammar: nullable<string>('string', {
    maxLength: 65_536,
    description: 'GBNF grammar that the answer must follow.',
  }),
};

export const answerFormatFields = {
  response_format: nullable<Record<string, unknown>>('object', {
    description: 'text, json_object, or json_schema with a schema.',
  }),
  json_schema: nullable<Record<string, unknown>>('object', {
    description: 'The schema of the answer by itself, as llama-server takes it.',
  }),
};

export const PromptProgress = Type.Object({
  total: Type.Integer({ description: 'Prompt tokens.' }),
  cache: Type.Integer({ description: 'Those whose state was there.' }),
  processed: Type.Integer({ description: 'Those that are done, with the ones whose state was there.' }),
  time_ms: Type.Number(),
  remaining_ms: Type.Optional(
    Type.Number({ description: 'About how long the rest takes; absent until something was evaluated.' }),
  ),
});
export type PromptProgress = Static<typeof PromptProgress>;

export const Resumption = Type.Object({
  from: Type.String(),
  on: Type.String(),
  because: Type.String({ description: 'How the first one failed.' }),
  after_characters: Type.Integer({ description: 'Characters of the answer that the first one wrote.' }),
});
export type Resumption = Static<typeof Resumption>;

export const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    prompt_tokens_details: Type.Optional(Type.Object({ cached_tokens: Type.Integer() })),
    completion_tokens_details: Type.Optional(Type.Object({ reasoning_tokens: Type.Integer() })),
  },
  { $id: 'Usage' },
);
export type Usage = Static<typeof Usage>;

export const TokenLogprob = Type.Object({
  token: Type.String(),
  logprob: Type.Number(),
  bytes: Type.Array(Type.Integer()),
});

export const ChoiceLogprobs = Type.Object({
  content: Type.Array(
    Type.Object({
      token: Type.String(),
      logprob: Type.Number(),
      bytes: Type.Array(Type.Integer()),
      top_logprobs: Type.Array(TokenLogprob),
    }),
  ),
});
export type ChoiceLogprobs = Static<typeof ChoiceLogprobs>;

export const WireFinishReason = Type.Union([
  Type.Literal('stop'),
  Type.Literal('length'),
  Type.Literal('tool_calls'),
]);

export const TrueFinishReason = Type.Union([...WireFinishReason.anyOf, Type.Literal('repetition')]);

export const Repetition = Type.Union([Type.Literal('nudged'), Type.Literal('ended')], {
  description:
    'The answer repeated itself: `nudged`, one token was chosen differently; `ended`, it was ended.',
});

export const CallGuard = Type.Union(
  [Type.Literal('dropped'), Type.Literal('refused'), Type.Literal('ended')],
  {
    description:
      'Tool calls: `dropped`, further ones were left out where one is allowed; `refused`, a call that gave the same result again and again was refused, and the model answered otherwise; `ended`, it insisted and answered without tools.',
  },
);

export const CompactionFacts = Type.Object({
  tokens_before: Type.Integer({ description: 'Tokens of the prompt as it was sent.' }),
  tokens_after: Type.Integer({ description: 'Tokens of the prompt that the model read.' }),
  tokens_evaluated: Type.Optional(Type.Integer({ description: 'Those that were not cached.' })),
  cleared_tool_results: Type.Integer(),
  cleared_thinking_turns: Type.Integer(),
  summarized_turns: Type.Integer(),
  summary_tokens: Type.Optional(
    Type.Integer({ description: 'Tokens of the summary, where it was written for this answer.' }),
  ),
  estimated: Type.Optional(
    Type.Boolean({ description: 'true: the engine counts no tokens of prompts, so that these are guesses.' }),
  ),
});
export type CompactionFacts = Static<typeof CompactionFacts>;

export const incidentShapes = {
  svc_repetition: Type.Optional(Repetition),
  svc_call_guard: Type.Optional(CallGuard),
  svc_compaction: Type.Optional(CompactionFacts),
};

/** For display; tokens per second and milliseconds. */
export const Timings = Type.Object(
  {
    cache_n: Type.Integer(),
    prompt_n: Type.Integer(),
    predicted_n: Type.Integer(),
    prompt_ms: Type.Number(),
    predicted_ms: Type.Number(),
    prompt_per_second: Type.Number(),
    predicted_per_second: Type.Number(),
    /** Prompt tokens by the source of their state, milliseconds to restore it, and evaluated tokens. */
    cache: Type.Object({
      slot: Type.Integer(),
      ram: Type.Integer(),
      disk: Type.Integer(),
      restore_ms: Type.Number(),
      evaluated: Type.Integer(),
    }),
    /** Draft tokens evaluated ahead, and those that the sampler accepted; absent without drafts. */
    draft_n: Type.Optional(Type.Integer()),
    draft_n_accepted: Type.Optional(Type.Integer()),
  },
  { $id: 'Timings' },
);
export type Timings = Static<typeof Timings>;
