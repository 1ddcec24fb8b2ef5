import { type Static, Type } from 'typebox';
import { nullable, orNull } from '../schema.ts';
import { MOST_ALTERNATIVES } from '../../contract/limits.ts';
import { evidenceField, evidenceMember } from './evidence.ts';
import { promptLogprobsField, promptLogprobsShapes } from './prompt-logprobs.ts';
import {
  answerFormatFields,
  generationFields,
  PromptProgress,
  Timings,
  TrueFinishReason,
  WireFinishReason,
  Usage,
} from './generation.ts';

export const MOST_PROMPTS = 32;
export const MOST_PROMPT_TOKENS = 1_048_576;

const TOKEN = { minimum: 0, maximum: 2 ** 31 - 1 };

export const PROMPT_ITEM = {
  ...TOKEN,
  minItems: 1,
  maxItems: MOST_PROMPT_TOKENS,
  items: { ...TOKEN, type: ['string', 'integer'] },
};

export type SentPrompt = string | (string | number)[];

export type SentPrompts = string | (SentPrompt | number)[];

/** The interface lists /v1/completions; its shape is the usual text completion. */
export const CompletionRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 512 }),
    prompt: Type.Unsafe<SentPrompts>({
      type: ['string', 'array'],
      minItems: 1,
      maxItems: MOST_PROMPT_TOKENS,
      items: { ...PROMPT_ITEM, type: ['string', 'integer', 'array'] },
      documented: {
        items: {
          type: ['string', 'integer', 'array'],
          minLength: 1,
          minItems: 1,
          items: { type: ['string', 'integer'] },
        },
      },
      description: `A string, or tokens of the model's vocabulary by their ids, between which strings may stand; or a list of up to ${MOST_PROMPTS} such prompts, each of which is continued by itself.`,
    }),
    parse_special: nullable<boolean>('boolean', {
      description:
        'true reads the marks of control tokens in texts as such, for prompts that a template has been applied to; by default they are ordinary text.',
    }),
    suffix: nullable<string>('string', {
      maxLength: 1_048_576,
      description:
        'What is to follow the answer, where the vocabulary has tokens for it (fill in the middle).',
    }),
    echo: nullable<boolean>('boolean', { description: 'true begins each answer with its prompt.' }),
    logprobs: nullable<number>('integer', {
      minimum: 0,
      maximum: MOST_ALTERNATIVES,
      description:
        'Reports the log probability of each token, and of so many alternatives; beside echo, those of the prompt as well.',
    }),
    ...promptLogprobsField,
    ...evidenceField,
    ...generationFields,
    ...answerFormatFields,
  },
  {
    $id: 'CompletionRequest',
    documented: {
      anyOf: [
        { properties: { prompt: { minLength: 1 } } },
        { properties: { suffix: { type: 'string', minLength: 1 } }, required: ['suffix'] },
      ],
    },
  },
);
export type CompletionRequest = Static<typeof CompletionRequest>;

export const CompletionLogprobs = Type.Object({
  tokens: Type.Array(Type.String()),
  /** null for the first token of an echoed prompt, which has no predecessor. */
  token_logprobs: Type.Array(Type.Union([Type.Number(), Type.Null()])),
  /** Keyed by the token's text; the reported token is always included. */
  top_logprobs: Type.Array(Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()])),
  /** Start of each token in the text of its choice, characters. */
  text_offset: Type.Array(Type.Integer()),
});
export type CompletionLogprobs = Static<typeof CompletionLogprobs>;

const CompletionChoice = Type.Object({
  index: Type.Integer(),
  text: Type.String(),
  finish_reason: Type.Union([WireFinishReason, Type.Null()]),
  svc_finish_reason: Type.Optional(TrueFinishReason),
  logprobs: orNull(CompletionLogprobs),
  ...promptLogprobsShapes,
});

export const CompletionResponse = Type.Object(
  {
    id: Type.String({ pattern: '^cmpl-svc-.+$' }),
    object: Type.Literal('text_completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(CompletionChoice),
    usage: Type.Optional(Usage),
    system_fingerprint: Type.Optional(Type.String()),
    timings: Type.Optional(Timings),
    prompt_progress: Type.Optional(PromptProgress),
    ...evidenceMember,
    svc_answer: Type.Optional(
      Type.Object(
        { model: Type.String(), choices: Type.Array(CompletionChoice), usage: Usage },
        { description: 'Beside `evidence` of a stream: the whole answer, which the record is of.' },
      ),
    ),
  },
  { $id: 'CompletionResponse' },
);
export type CompletionResponse = Static<typeof CompletionResponse>;
