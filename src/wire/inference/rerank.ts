import { type Static, Type } from 'typebox';
import { KeepAlive, nullable } from '../schema.ts';

export const MOST_DOCUMENTS = 1024;

/** server/api/rerank.ts refuses invalid texts and lists with a better sentence. */
const TEXT = { type: 'string', minLength: 1 };

export const RerankRequest = Type.Object(
  {
    model: nullable<string>('string', {
      minLength: 1,
      maxLength: 512,
      description:
        'A model that ranks, or an embedding model, whose vectors are compared. Absent: the newest model that ranks, else the default embedding model.',
    }),
    query: Type.Unsafe<unknown>({ documented: TEXT, description: 'Not empty, at most 1 MiB.' }),
    documents: Type.Unsafe<unknown>({
      documented: {
        type: 'array',
        minItems: 1,
        maxItems: MOST_DOCUMENTS,
        items: {
          type: ['string', 'object'],
          minLength: 1,
          required: ['text'],
          properties: { text: TEXT },
        },
      },
      description: 'Strings, or objects with a member text; like query, none empty, of at most 1 MiB each.',
    }),
    top_n: nullable<number>('integer', { minimum: 1, description: 'How many results; absent: all.' }),
    return_documents: nullable<boolean>('boolean', { description: 'true repeats each text in its result.' }),
    truncate: nullable<boolean>('boolean', {
      description:
        'true cuts documents that are too long, and the query too where vectors are compared; otherwise they are a 400.',
    }),
    keep_alive: KeepAlive,
  },
  { $id: 'RerankRequest' },
);
export type RerankRequest = Static<typeof RerankRequest>;

export const RerankResponse = Type.Object(
  {
    object: Type.Literal('list'),
    model: Type.String(),
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Place of the document in the request.' }),
        relevance_score: Type.Number({
          description: 'The higher, the better; to be compared within one answer only.',
        }),
        document: Type.Optional(Type.Object({ text: Type.String() })),
        truncated: Type.Optional(
          Type.Literal(true, { description: 'The document, or the query, was cut before it was scored.' }),
        ),
      }),
    ),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  },
  { $id: 'RerankResponse' },
);
export type RerankResponse = Static<typeof RerankResponse>;
