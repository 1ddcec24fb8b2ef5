import { type Static, Type } from '#typebox';

/** Every failure of every route (interface, ErrorBody); `error` is always the sentence itself. */
export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'One plain sentence: the thing, the cause, the remedy.' }),
    message: Type.String({ description: 'The same sentence, where OpenAI clients look for it.' }),
    type: Type.String({ description: 'The family of the failure, e.g. invalid_request_error.' }),
    code: Type.String({ description: 'A stable code; docs/errors.md lists them all.' }),
    param: Type.Optional(Type.String({ description: 'The request field that the failure is about.' })),
  },
  { $id: 'ErrorBody' },
);
export type ErrorBody = Static<typeof ErrorBody>;
