import { type Static, Type } from 'typebox';

/** OpenAI's error; its clients require the members, and `param` may be null. */
const OpenAiError = Type.Object(
  {
    message: Type.String({ description: 'One plain sentence: the thing, the cause, the remedy.' }),
    type: Type.String({ description: 'The family of the failure, e.g. invalid_request_error.' }),
    param: Type.Union([Type.String(), Type.Null()]),
    code: Type.String({ description: 'A stable code; docs/errors.md lists them all.' }),
  },
  { $id: 'OpenAiError' },
);

export const ErrorBody = Type.Object(
  {
    error: Type.Union([Type.String(), OpenAiError], {
      description:
        'One plain sentence: the thing, the cause, the remedy. An object for clients of OpenAI (docs/errors.md).',
    }),
    message: Type.String({ description: 'The same sentence, whatever the shape of error.' }),
    type: Type.String({ description: 'The family of the failure, e.g. invalid_request_error.' }),
    code: Type.String({ description: 'A stable code; docs/errors.md lists them all.' }),
    param: Type.Optional(Type.String({ description: 'The request field that the failure is about.' })),
  },
  { $id: 'ErrorBody' },
);
export type ErrorBody = Static<typeof ErrorBody>;

export const MessagesErrorBody = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.Object({
      type: Type.String({ description: 'The family of the failure in the words of the dialect.' }),
      message: Type.String({ description: 'One plain sentence: the thing, the cause, the remedy.' }),
      code: Type.String({ description: 'A stable code; docs/errors.md lists them all.' }),
      param: Type.Optional(Type.String()),
      details: Type.Optional(
        Type.Object({ error_code: Type.String(), unsupported: Type.Array(Type.String()) }),
      ),
    }),
    request_id: Type.String(),
  },
  { $id: 'MessagesErrorBody' },
);
export type MessagesErrorBody = Static<typeof MessagesErrorBody>;

export const ResponsesErrorBody = Type.Object({ error: OpenAiError }, { $id: 'ResponsesErrorBody' });
export type ResponsesErrorBody = Static<typeof ResponsesErrorBody>;

export const LlamaServerErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer({ description: 'The status.' }),
      message: Type.String({ description: 'One plain sentence: the thing, the cause, the remedy.' }),
      type: Type.String({ description: 'The family of the failure, e.g. invalid_request_error.' }),
      n_prompt_tokens: Type.Optional(Type.Integer()),
      n_ctx: Type.Optional(Type.Integer()),
    }),
  },
  { $id: 'LlamaServerErrorBody' },
);
export type LlamaServerErrorBody = Static<typeof LlamaServerErrorBody>;

export const errorBodies = {
  native: ErrorBody,
  messages: MessagesErrorBody,
  responses: ResponsesErrorBody,
  'llama-server': LlamaServerErrorBody,
  ollama: ErrorBody,
} as const;

/** The author of a route's shapes: the interface, or a provider whose clients are served too. */
export type Dialect = keyof typeof errorBodies;
