import { type Static, Type } from 'typebox';
import { KeepAlive, nullable } from '../schema.ts';

/** Per request: larger ones would delay other answers of the model. */
export const TOKEN_LIMITS = { chars: 256 * 1024, tokens: 65_536 } as const;

const TEXT = { maxLength: TOKEN_LIMITS.chars };

export const TokenizeRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 512 }),
    input: nullable<string>('string', { ...TEXT, description: 'The text.' }),
    content: nullable<string>('string', { ...TEXT, description: 'Alias of input.' }),
    prompt: nullable<string>('string', { ...TEXT, description: 'Alias of input.' }),
    add_special: nullable<boolean>('boolean', {
      description: 'true adds the tokens that the model expects before and after any text; default false.',
    }),
    parse_special: nullable<boolean>('boolean', {
      description: 'true reads the marks of control tokens as such; by default they are ordinary text.',
    }),
    with_pieces: nullable<boolean>('boolean', {
      description: 'true lists each token as an object with its id and its piece of the text.',
    }),
    keep_alive: KeepAlive,
  },
  { $id: 'TokenizeRequest' },
);
export type TokenizeRequest = Static<typeof TokenizeRequest>;

const Piece = Type.Object({
  id: Type.Integer(),
  piece: Type.Union([Type.String(), Type.Array(Type.Integer())], {
    description: 'Bytes where the token is a part of a character.',
  }),
});

export const TokenizeResponse = Type.Object(
  {
    model: Type.String(),
    count: Type.Integer(),
    tokens: Type.Union([Type.Array(Type.Integer()), Type.Array(Piece)]),
  },
  { $id: 'TokenizeResponse' },
);
export type TokenizeResponse = Static<typeof TokenizeResponse>;

export const DetokenizeRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 512 }),
    tokens: Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }), {
      maxItems: TOKEN_LIMITS.tokens,
    }),
    keep_alive: KeepAlive,
  },
  { $id: 'DetokenizeRequest' },
);
export type DetokenizeRequest = Static<typeof DetokenizeRequest>;

export const DetokenizeResponse = Type.Object(
  {
    model: Type.String(),
    content: Type.String({ description: 'Control tokens appear as their marks.' }),
  },
  { $id: 'DetokenizeResponse' },
);
export type DetokenizeResponse = Static<typeof DetokenizeResponse>;
