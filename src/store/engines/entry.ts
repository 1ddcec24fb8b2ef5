/**
 * store/engines owns the user's settings for engines beyond the built-in one: upstreams, supervised commands, and
 * pools of equal models, one small JSON file each. It knows nothing of how a job runs there. The server sees a change
 * with its next request.
 */
import { type Static, Type } from 'typebox';
import { ModelKind } from '../../contract/load.ts';
import { PRIVACIES } from '../../contract/settings/privacy.ts';
import { DIALECTS } from '../../server/engine/upstream/ports.ts';
import { Digest } from '../files/manifest.ts';

const Text = Type.String({ maxLength: 4096 });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Ms = Type.Number({ minimum: 1, maximum: 7 * 24 * 3_600_000 });
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const KnownModel = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 256 }),
    kind: ModelKind,
    contextLength: nullable(Count),
    media: nullable(Type.Array(Type.Enum(['image', 'audio']))),
    embeddingWidth: nullable(Count),
    reasoning: nullable(Type.Boolean()),
    digest: nullable(Digest),
  },
  { additionalProperties: false },
);
export type KnownModel = Static<typeof KnownModel>;

const Common = {
  schema: Type.Literal(1),
  name: Type.String({ minLength: 1, maxLength: 160 }),
  addedAt: Text,
};

/** Keyed by the name that requests use. */
const Aliases = Type.Record(Type.String({ maxLength: 160 }), Type.String({ maxLength: 256 }));

export const UpstreamEntry = Type.Object(
  {
    ...Common,
    type: Type.Literal('upstream'),
    baseUrl: Text,
    dialect: Type.Enum([...DIALECTS]),
    privacy: Type.Enum([...PRIVACIES]),
    /** The variable or file with the key; the key itself is never stored here. */
    keyEnv: Type.Optional(Text),
    keyFile: Type.Optional(Text),
    caFile: Type.Optional(Text),
    /** PEM, of another Hearth; a server without this key is refused. */
    publicKey: Type.Optional(Text),
    models: Type.Optional(Text),
    deadlines: Type.Optional(
      Type.Object(
        {
          connectMs: Type.Optional(Ms),
          firstByteMs: Type.Optional(Ms),
          stallMs: Type.Optional(Ms),
          wholeMs: Type.Optional(Ms),
        },
        { additionalProperties: false },
      ),
    ),
    maxCalls: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
    aliases: Aliases,
    limits: Type.Optional(Type.Record(Type.String({ maxLength: 256 }), Type.Enum([...PRIVACIES]))),
    known: Type.Array(KnownModel, { maxItems: 1_000 }),
  },
  { additionalProperties: false },
);
export type UpstreamEntry = Static<typeof UpstreamEntry>;

export const CommandEntry = Type.Object(
  {
    ...Common,
    type: Type.Literal('command'),
    /** `{port}` and `{model}` are filled in. */
    command: Type.Array(Text, { minItems: 1, maxItems: 512 }),
    dialect: Type.Enum([...DIALECTS]),
    basePath: Text,
    env: Type.Optional(Type.Record(Type.String({ maxLength: 256 }), Text)),
    cwd: Type.Optional(Text),
    models: Type.Array(
      Type.Object(
        {
          id: Type.String({ minLength: 1, maxLength: 160 }),
          known: KnownModel,
          model: Type.Optional(Text),
          memoryBytes: Count,
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 64 },
    ),
    startMs: Ms,
    maxCalls: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
    aliases: Aliases,
  },
  { additionalProperties: false },
);
export type CommandEntry = Static<typeof CommandEntry>;
export type CommandModel = CommandEntry['models'][number];

export const PoolEntry = Type.Object(
  {
    ...Common,
    type: Type.Literal('pool'),
    members: Type.Array(Type.String({ minLength: 1, maxLength: 512 }), { minItems: 1, maxItems: 256 }),
    /** The user states that all have the same weights, so that one may continue an answer of another. */
    equalWeights: Type.Boolean(),
    privacy: Type.Optional(Type.Enum([...PRIVACIES])),
  },
  { additionalProperties: false },
);
export type PoolEntry = Static<typeof PoolEntry>;

export const EngineEntry = Type.Union([UpstreamEntry, CommandEntry, PoolEntry]);
export type EngineEntry = Static<typeof EngineEntry>;

export const DIALECT_NAMES = DIALECTS;
export const PRIVACY_NAMES = PRIVACIES;
