/**
 * Routes that llama-server has in addition to OpenAI's, in its shapes, for editors and programs that use them. Its
 * clients know one model, so `model` may be absent and means the default one.
 */
import { type Static, Type } from 'typebox';
import {
  CompletionRequest,
  MOST_PROMPT_TOKENS,
  PROMPT_ITEM,
  type SentPrompt,
} from './inference/completions.ts';
import { PromptProgress, Timings } from './inference/generation.ts';
import { TokenizeRequest } from './inference/tokens.ts';
import { nullable, orNull } from './schema.ts';

const model = nullable<string>('string', {
  minLength: 1,
  maxLength: 512,
  description: 'Absent: the default model.',
});

export interface PromptObject {
  prompt_string?: unknown;
  multimodal_data?: unknown;
}

const { parse_special } = CompletionRequest.properties;

const shared = Type.Omit(CompletionRequest, [
  'prompt',
  'model',
  'suffix',
  'echo',
  'logprobs',
  'prompt_logprobs',
  'parse_special',
  'stream_options',
  'svc_evidence',
]).properties;

const answered = {
  ...shared,
  model,
  n_probs: nullable<number>('integer', {
    minimum: 0,
    maximum: 20,
    description: 'Reports each token, and so many alternatives; 0 reports none.',
  }),
  return_tokens: nullable<boolean>('boolean', {
    description: 'true lists the ids of the tokens that were written.',
  }),
  response_fields: nullable<string[]>('array', {
    maxItems: 64,
    items: { type: 'string', maxLength: 256 },
    description:
      'The only members of the answer, or of the last event of a stream; a/b is the member b of the member a.',
  }),
};

export const NativeCompletionRequest = Type.Object(
  {
    ...answered,
    parse_special,
    prompt: Type.Unsafe<string | PromptObject | (SentPrompt | number | PromptObject)[]>({
      type: ['string', 'array', 'object'],
      minItems: 1,
      maxItems: MOST_PROMPT_TOKENS,
      items: { ...PROMPT_ITEM, type: ['string', 'integer', 'array', 'object'] },
      description:
        'A string, tokens by their ids, both in turn, or {"prompt_string": …}; or a list of such prompts, each of which is continued by itself.',
    }),
  },
  { $id: 'NativeCompletionRequest' },
);
export type NativeCompletionRequest = Static<typeof NativeCompletionRequest>;

const TEXT = { maxLength: 1_048_576 };

export const InfillRequest = Type.Object(
  {
    ...answered,
    input_prefix: Type.String({ ...TEXT, description: 'What stands before the gap.' }),
    input_suffix: Type.String({ ...TEXT, description: 'What stands behind it.' }),
    input_extra: nullable<{ filename?: string | null; text: string }[]>('array', {
      maxItems: 256,
      items: {
        type: 'object',
        required: ['text'],
        properties: {
          filename: { type: ['string', 'null'], maxLength: 4096 },
          text: { type: 'string', ...TEXT },
        },
      },
      description: 'Other files, or parts of them, that the model may know.',
    }),
    prompt: nullable<string>('string', { ...TEXT, description: 'Goes on with input_prefix.' }),
  },
  { $id: 'InfillRequest' },
);
export type InfillRequest = Static<typeof InfillRequest>;

const PlainToken = {
  id: Type.Integer({ description: 'In the vocabulary; -1 from an engine that does not tell.' }),
  token: Type.String(),
  bytes: Type.Array(Type.Integer()),
  logprob: Type.Number(),
};

export const CompletionProbability = Type.Object({
  ...PlainToken,
  top_logprobs: Type.Array(Type.Object(PlainToken)),
});
export type CompletionProbability = Static<typeof CompletionProbability>;

export const NativeAnswer = Type.Object(
  {
    index: Type.Integer({ description: 'Of the prompt, or of the answer where several were asked for.' }),
    content: Type.String(),
    tokens: Type.Array(Type.Integer()),
    stop: Type.Literal(true),
    model: Type.String(),
    tokens_predicted: Type.Integer(),
    tokens_evaluated: Type.Integer({ description: 'Tokens of the prompt.' }),
    tokens_cached: Type.Integer({
      description: 'Tokens whose state is kept: of the prompt and of the answer.',
    }),
    generation_settings: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    prompt: orNull(
      Type.String({
        description: 'The text of the prompt, up to the gap where there is one; null where it was tokens.',
      }),
    ),
    has_new_line: Type.Boolean(),
    truncated: Type.Literal(false, { description: 'Nothing is ever cut.' }),
    stop_type: Type.Union([Type.Literal('eos'), Type.Literal('word'), Type.Literal('limit')]),
    stopping_word: Type.String(),
    timings: Timings,
    completion_probabilities: Type.Optional(Type.Array(CompletionProbability)),
  },
  { $id: 'NativeAnswer' },
);
export type NativeAnswer = Static<typeof NativeAnswer>;

/** The last event of a stream is the complete answer without its text. */
export const NativePiece = Type.Object({
  index: Type.Integer(),
  content: Type.String(),
  tokens: Type.Array(Type.Integer()),
  stop: Type.Literal(false),
  completion_probabilities: Type.Optional(Type.Array(CompletionProbability)),
  prompt_progress: Type.Optional(PromptProgress),
});
export type NativePiece = Static<typeof NativePiece>;

export const NativeEvent = Type.Union([NativePiece, NativeAnswer]);

/** One answer, or a list for several prompts or `n`; with `response_fields` only those members. */
export const NativeCompletion = Type.Unsafe<object>({
  $id: 'NativeCompletion',
  anyOf: [
    NativeAnswer,
    { type: 'array', items: NativeAnswer },
    { type: 'object', additionalProperties: true },
  ],
});

export const NativeTokenizeRequest = Type.Object(
  {
    ...TokenizeRequest.properties,
    model,
    parse_special: nullable<boolean>('boolean', {
      description: 'By default true: the marks of control tokens are read as such.',
    }),
  },
  { $id: 'NativeTokenizeRequest' },
);
export type NativeTokenizeRequest = Static<typeof NativeTokenizeRequest>;

export const TokenizerInfo = Type.Object(
  {
    model: Type.String(),
    bos_token: Type.Union([Type.String(), Type.Null()], { description: 'The mark that begins a text.' }),
    eos_token: Type.Union([Type.String(), Type.Null()], { description: 'The mark that ends one.' }),
  },
  { $id: 'TokenizerInfo' },
);
export type TokenizerInfo = Static<typeof TokenizerInfo>;
