/** Log probabilities of the prompt's own tokens, in vLLM's shape. */
import { type Static, Type } from 'typebox';
import { MOST_ALTERNATIVES } from '../../contract/limits.ts';
import { nullable } from '../schema.ts';

export const promptLogprobsField = {
  prompt_logprobs: nullable<number>('integer', {
    minimum: 0,
    maximum: MOST_ALTERNATIVES,
    description:
      'Reports the log probability of each token of the prompt, and of so many alternatives. Such a prompt is evaluated anew, whatever the prompt cache holds. Not in streams.',
  }),
};

const RankedLogprob = Type.Object({
  logprob: Type.Number(),
  rank: Type.Integer({ description: '1: no token is likelier.' }),
  decoded_token: Type.String(),
});

export const promptLogprobsShapes = {
  prompt_logprobs: Type.Optional(
    Type.Array(Type.Union([Type.Record(Type.String(), RankedLogprob), Type.Null()]), {
      description:
        'For each token of the prompt, by ids: the token itself and its likeliest alternatives. null for the first, which nothing stands before.',
    }),
  ),
  prompt_token_ids: Type.Optional(Type.Array(Type.Integer(), { description: 'Beside `prompt_logprobs`.' })),
};

const Shapes = Type.Object(promptLogprobsShapes);
export type PromptLogprobs = Static<typeof Shapes>;
