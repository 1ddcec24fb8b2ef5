import { type Static, Type } from '#typebox';
import { generationFields, Timings, TrueFinishReason, Usage } from './generation.ts';

/** /v1/completions: listed by the interface, shaped as the usual text completion. */
export const CompletionRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 512 }),
    prompt: Type.Unsafe<string | string[]>({
      type: ['string', 'array'],
      minItems: 1,
      maxItems: 1,
      items: { type: 'string' },
      documented: { minLength: 1, items: { type: 'string', minLength: 1 } },
      description: 'One string, or an array of one string.',
    }),
    ...generationFields,
  },
  { $id: 'CompletionRequest' },
);
export type CompletionRequest = Static<typeof CompletionRequest>;

export const CompletionResponse = Type.Object(
  {
    id: Type.String({ pattern: '^cmpl-svc-.+$' }),
    object: Type.Literal('text_completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        text: Type.String(),
        finish_reason: Type.Union([TrueFinishReason, Type.Null()]),
        svc_finish_reason: Type.Optional(TrueFinishReason),
        logprobs: Type.Null(),
      }),
    ),
    usage: Type.Optional(Usage),
    system_fingerprint: Type.Optional(Type.String()),
    timings: Type.Optional(Timings),
  },
  { $id: 'CompletionResponse' },
);
export type CompletionResponse = Static<typeof CompletionResponse>;
