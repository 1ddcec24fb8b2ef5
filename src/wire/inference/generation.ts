/** Request fields that chat and text completion share, and the usage object of both. */
import { type Static, Type } from '#typebox';
import { headerNames } from '../headers.ts';
import { nullable } from '../schema.ts';

export const generationFields = {
  temperature: nullable<number>('number', {
    minimum: 0,
    maximum: 100,
    description: 'Native option temperature; 0 is greedy.',
  }),
  max_tokens: nullable<number>('integer', { minimum: -1, description: 'Alias of num_predict.' }),
  num_predict: nullable<number>('integer', {
    minimum: -1,
    description:
      'Tokens to generate at most; -1 is unlimited, 0 evaluates the prompt only. The smallest of the aliases wins.',
  }),
  max_completion_tokens: nullable<number>('integer', { minimum: -1, description: 'Alias of num_predict.' }),
  num_ctx: nullable<number>('integer', {
    minimum: 1,
    description: `Requested context window, honoured up to the trained context and the memory plan; ${headerNames.numCtx} says what was used.`,
  }),
  stream: nullable<boolean>('boolean', { description: 'true selects a server-sent-event stream.' }),
  stream_options: nullable<{ include_usage?: boolean | null }>('object', {
    properties: { include_usage: { type: ['boolean', 'null'] } },
  }),
  top_p: nullable<number>('number', { minimum: 0, maximum: 1 }),
  top_k: nullable<number>('integer', { minimum: 0, maximum: 1_000_000 }),
  min_p: nullable<number>('number', { minimum: 0, maximum: 1 }),
  seed: nullable<number>('integer', {
    minimum: -1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Taken modulo 2^32; -1 is random.',
  }),
  repeat_penalty: nullable<number>('number', { exclusiveMinimum: 0, maximum: 10 }),
  repeat_last_n: nullable<number>('integer', { minimum: 0, maximum: 65_536 }),
  presence_penalty: nullable<number>('number', { minimum: -2, maximum: 2 }),
  frequency_penalty: nullable<number>('number', { minimum: -2, maximum: 2 }),
  logit_bias: nullable<Record<string, number>>('object', {
    maxProperties: 1024,
    additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
    description: 'Token id to additive bias, -100 to 100.',
  }),
  stop: Type.Optional(
    Type.Unsafe<string | string[] | null>({
      type: ['string', 'array', 'null'],
      maxLength: 4096,
      maxItems: 64,
      items: { type: 'string', minLength: 1, maxLength: 4096 },
    }),
  ),
  keep_alive: Type.Optional(
    Type.Unsafe<string | number | null>({
      type: ['string', 'number', 'null'],
      description:
        'How long the model stays loaded afterwards: "10m", seconds, 0 (unload now), negative (no limit).',
    }),
  ),
  n: nullable<number>('integer', {
    minimum: 1,
    maximum: 128,
    description: 'Answers to generate, at most the slots of the model.',
  }),
  grammar: nullable<string>('string', {
    maxLength: 65_536,
    description: 'GBNF grammar that the answer must follow.',
  }),
};

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

export const TrueFinishReason = Type.Union([
  Type.Literal('stop'),
  Type.Literal('length'),
  Type.Literal('tool_calls'),
]);

/** Speed of one answer, for people; tokens per second and milliseconds. */
export const Timings = Type.Object({
  prompt_ms: Type.Number(),
  predicted_ms: Type.Number(),
  prompt_per_second: Type.Number(),
  predicted_per_second: Type.Number(),
  /** Tokens guessed ahead from earlier text, and those of them that were right; absent where none was guessed. */
  draft_n: Type.Optional(Type.Integer()),
  draft_n_accepted: Type.Optional(Type.Integer()),
});
export type Timings = Static<typeof Timings>;
