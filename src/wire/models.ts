import { type Static, Type } from '#typebox';

/** The interface's three fields first; the rest is additive. */
export const ModelEntry = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    owned_by: Type.String({
      description:
        'hearth for built-in models, hf:<user> for pulled ones, the name of the program or of the engine that they belong to, or local.',
    }),
    created: Type.Optional(Type.Integer({ description: 'When it was installed, Unix seconds.' })),
    engine: Type.Optional(Type.String({ description: 'What runs it: local, remote, command or pool.' })),
    kind: Type.Optional(Type.String({ description: 'chat or embedding.' })),
    context_length: Type.Optional(
      Type.Integer({
        description: 'The context that the model was trained for, tokens; elsewhere, the one that it has.',
      }),
    ),
    max_model_len: Type.Optional(Type.Integer()),
    size_bytes: Type.Optional(Type.Integer()),
    quant: Type.Optional(Type.String()),
    architecture: Type.Optional(Type.String()),
    parameter_count: Type.Optional(Type.Integer()),
    chat_template: Type.Optional(
      Type.Boolean({
        description:
          'False for a chat model whose file has none; ChatML stands in, and it is often a base model.',
      }),
    ),
    capabilities: Type.Optional(Type.Array(Type.String())),
    digest: Type.Optional(Type.String({ description: 'sha256:<hex> of the weights, when known.' })),
    aliases: Type.Optional(Type.Array(Type.String())),
    settings: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description:
          'What its user set for its loads, by the names of docs/model-settings.md; absent: nothing.',
      }),
    ),
  },
  { $id: 'ModelEntry' },
);
export type ModelEntry = Static<typeof ModelEntry>;

export const ModelList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(ModelEntry) },
  { $id: 'ModelList' },
);
export type ModelList = Static<typeof ModelList>;
