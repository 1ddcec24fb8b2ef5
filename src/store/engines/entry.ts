/**
 * store/engines owns what the user told of engines beyond the built-in one: upstreams, supervised commands, and pools of
 * equal models. It knows nothing of how a job runs there. One small JSON file each; the server sees a change with its
 * next request, as it does with models.
 */
import { type Static, Type } from 'typebox';
import { ModelKind } from '../../contract/load.ts';
import { PRIVACIES } from '../../contract/settings/privacy.ts';
import { DIALECTS } from '../../engine/upstream/ports.ts';
import { Digest } from '../files/manifest.ts';

const Text = Type.String({ maxLength: 4096 });
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Ms = Type.Number({ minimum: 1, maximum: 7 * 24 * 3_600_000 });
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** A model as last seen; null: unknown. */
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
  /** RFC 3339. */
  addedAt: Text,
};

/** Names that requests may use, each for the name of a model there. */
const Aliases = Type.Record(Type.String({ maxLength: 160 }), Type.String({ maxLength: 256 }));

export const UpstreamEntry = Type.Object(
  {
    ...Common,
    type: Type.Literal('upstream'),
    baseUrl: Text,
    dialect: Type.Enum([...DIALECTS]),
    privacy: Type.Enum([...PRIVACIES]),
    /** The variable, or the file, that holds its key; the key itself is never kept here. */
    keyEnv: Type.Optional(Text),
    keyFile: Type.Optional(Text),
    caFile: Type.Optional(Text),
    /** PEM; only this Hearth is spoken to. */
    publicKey: Type.Optional(Text),
    /** Served models: names with `*` for any characters. */
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
    /** The farthest that requests for a model may go, by its name there; absent: anywhere. */
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
    /** The program and its words; `{port}` and `{model}` are filled in. */
    command: Type.Array(Text, { minItems: 1, maxItems: 512 }),
    dialect: Type.Enum([...DIALECTS]),
    /** Path after its address. */
    basePath: Text,
    /** Further variables of its environment. */
    env: Type.Optional(Type.Record(Type.String({ maxLength: 256 }), Text)),
    cwd: Type.Optional(Text),
    /** One process each. */
    models: Type.Array(
      Type.Object(
        {
          /** End of its id, after the engine's name. */
          id: Type.String({ minLength: 1, maxLength: 160 }),
          known: KnownModel,
          /** Value of `{model}`. */
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
    /** The user states that all have the same weights, so that one may continue what another began. */
    equalWeights: Type.Boolean(),
    /** The farthest that a request for it may go; absent: anywhere. */
    privacy: Type.Optional(Type.Enum([...PRIVACIES])),
  },
  { additionalProperties: false },
);
export type PoolEntry = Static<typeof PoolEntry>;

export const EngineEntry = Type.Union([UpstreamEntry, CommandEntry, PoolEntry]);
export type EngineEntry = Static<typeof EngineEntry>;

/** Used by the verbs, in the order of the help. */
export const DIALECT_NAMES = DIALECTS;
export const PRIVACY_NAMES = PRIVACIES;
