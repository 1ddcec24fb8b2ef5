import { type Static, Type } from 'typebox';
import { EMBEDDING_WIDTH, TEXTS_OF_ONE_REQUEST } from '../../contract/limits.ts';
import { KeepAlive, nullable } from '../schema.ts';
import { evidenceField, evidenceMember } from './evidence.ts';

const TOKEN_IDS = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } };

export const EmbeddingRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 512 }),
    /** server/api/embedding/texts.ts refuses empty arrays, empty texts and mixtures with a better sentence. */
    input: Type.Unsafe<string | unknown[]>({
      type: ['string', 'array'],
      documented: {
        minLength: 1,
        minItems: 1,
        anyOf: [
          { type: 'string' },
          {
            type: 'array',
            maxItems: TEXTS_OF_ONE_REQUEST,
            items: { anyOf: [{ type: 'string', minLength: 1 }, TOKEN_IDS] },
          },
          TOKEN_IDS,
        ],
      },
      description:
        'One string, or 1 to 2048 strings, none empty, of at most 1 MiB each; in place of a string also a list of token ids of the model.',
    }),
    encoding_format: nullable<string>('string', { enum: ['float', 'base64', null] }),
    dimensions: nullable<number>('integer', {
      description: `Numbers per vector: ${EMBEDDING_WIDTH} unless set, or the width of the model; fewer where it was trained for that.`,
    }),
    truncate: nullable<boolean>('boolean', {
      description: 'true cuts inputs that are too long and flags them; otherwise they are a 400.',
    }),
    ...evidenceField,
    keep_alive: KeepAlive,
  },
  { $id: 'EmbeddingRequest' },
);
export type EmbeddingRequest = Static<typeof EmbeddingRequest>;

export const EmbeddingItem = Type.Object({
  object: Type.Literal('embedding'),
  index: Type.Integer(),
  embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
  truncated: Type.Optional(Type.Literal(true)),
});

export const EmbeddingResponse = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(EmbeddingItem),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
    ...evidenceMember,
  },
  { $id: 'EmbeddingResponse' },
);
export type EmbeddingResponse = Static<typeof EmbeddingResponse>;
