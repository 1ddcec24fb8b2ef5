import { type Static, Type } from 'typebox';
import { orNull } from './schema.ts';

/** Members of Anthropic's ModelInfo, for requests with the header anthropic-version. */
const infoFields = {
  type: Type.Optional(
    Type.Literal('model', { description: 'This and the members below: with the header anthropic-version.' }),
  ),
  display_name: Type.Optional(Type.String()),
  created_at: Type.Optional(Type.String({ description: 'RFC 3339.' })),
  max_input_tokens: Type.Optional(orNull(Type.Integer())),
  max_tokens: Type.Optional(orNull(Type.Integer())),
  lifecycle: Type.Optional(Type.Literal('active')),
  line: Type.Optional(Type.Null()),
  deprecated_at: Type.Optional(Type.Null()),
  retires_at: Type.Optional(Type.Null()),
};

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
    capabilities: Type.Optional(
      orNull(Type.Array(Type.String(), { description: 'null with the header anthropic-version.' })),
    ),
    limits: Type.Optional(
      Type.String({ description: 'What a model that ships with Hearth cannot do; absent for others.' }),
    ),
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
    ...infoFields,
  },
  { $id: 'ModelEntry' },
);
export type ModelEntry = Static<typeof ModelEntry>;

export const ModelList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(ModelEntry),
    first_id: Type.Optional(orNull(Type.String())),
    last_id: Type.Optional(orNull(Type.String())),
    has_more: Type.Optional(Type.Boolean()),
  },
  { $id: 'ModelList' },
);
export type ModelList = Static<typeof ModelList>;
