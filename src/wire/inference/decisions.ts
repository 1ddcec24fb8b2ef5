/** POST /v1/decisions: typed questions about one input, in the shape of OpenAI's Decisions API. */
import { type Static, Type } from 'typebox';
import { KeepAlive, nullable } from '../schema.ts';

export const MOST_QUESTIONS = 100;
/** Per question. */
export const MOST_OPTIONS = 255;
/** For all questions of a request. */
export const MOST_OPTIONS_TOGETHER = 1_024;

const PARTS = { type: ['string', 'array'], items: { type: 'object' } };

const Question = Type.Object({
  type: Type.Unsafe<'predicate' | 'choice' | 'score'>({
    type: 'string',
    enum: ['predicate', 'choice', 'score'],
    description: 'A statement that is true or not, one of several choices, or a level of a scale.',
  }),
  name: nullable<string>('string', { maxLength: 256, description: 'Comes back with its answer.' }),
  instructions: Type.Unsafe<unknown>({
    ...PARTS,
    description: 'A text, or parts of type input_text and input_json.',
  }),
  choices: nullable<{ value: unknown; description?: string | null }[]>('array', {
    items: {
      type: 'object',
      required: ['value'],
      properties: { value: { type: ['string', 'boolean'] }, description: { type: ['string', 'null'] } },
    },
    description: `Of a choice: 2 to ${MOST_OPTIONS} different values.`,
  }),
  levels: nullable<{ label: string; description?: string | null }[]>('array', {
    items: {
      type: 'object',
      required: ['label'],
      properties: { label: { type: 'string' }, description: { type: ['string', 'null'] } },
    },
    description: `Of a score: 2 to ${MOST_OPTIONS} different labels, from the lowest to the highest.`,
  }),
});
export type DecisionQuestion = Static<typeof Question>;

export const DecisionRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 512 }),
    input: Type.Unsafe<unknown>({
      ...PARTS,
      description: 'A text, or messages whose content is text; every question is about all of it.',
    }),
    questions: Type.Array(Question, { minItems: 1, maxItems: MOST_QUESTIONS }),
    svc_any_order: nullable<boolean>('boolean', {
      description:
        'true: the order in which choices are listed has no influence. The model then reads each question with its choices in several orders, which do not depend on the request, and the mean counts.',
    }),
    keep_alive: KeepAlive,
  },
  { $id: 'DecisionRequest' },
);
export type DecisionRequest = Static<typeof DecisionRequest>;

const Name = Type.Union([Type.String(), Type.Null()]);
const Probability = Type.Number({ minimum: 0, maximum: 1 });
const Confidence = Type.Number({ minimum: 0, maximum: 1, description: 'The largest of the probabilities.' });
const Value = Type.Union([Type.String(), Type.Boolean()]);

export const DecisionAnswer = Type.Union([
  Type.Object({ type: Type.Literal('predicate'), name: Name, probability: Probability }),
  Type.Object({
    type: Type.Literal('choice'),
    name: Name,
    choice: Value,
    confidence: Confidence,
    probabilities: Type.Array(Type.Object({ value: Value, probability: Probability })),
  }),
  Type.Object({
    type: Type.Literal('score'),
    name: Name,
    score: Type.Number({ description: 'The mean level, counted from 0.' }),
    confidence: Confidence,
    probabilities: Type.Array(
      Type.Object({ value: Type.Integer(), label: Type.String(), probability: Probability }),
    ),
  }),
]);
export type DecisionAnswer = Static<typeof DecisionAnswer>;

export const DecisionResponse = Type.Object(
  {
    model: Type.String(),
    answers: Type.Array(DecisionAnswer, { description: 'In the order of the questions.' }),
    usage: Type.Object({
      input_tokens: Type.Integer({ description: 'Of all prompts that were scored.' }),
      input_tokens_details: Type.Object({
        cached_tokens: Type.Integer({ description: 'Those that were not evaluated again.' }),
        cache_write_tokens: Type.Integer(),
      }),
      output_tokens: Type.Integer({ description: 'Always 0: nothing is generated.' }),
      output_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
      total_tokens: Type.Integer(),
    }),
  },
  { $id: 'DecisionResponse' },
);
export type DecisionResponse = Static<typeof DecisionResponse>;
