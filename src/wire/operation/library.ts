/** Changes by the page: installed models, their names and settings. They require a page token or an admin key. */
import { type Static, Type } from 'typebox';
import { ModelEntry } from '../models.ts';

/** Characters; a chat template can be this long. */
const LONGEST_SETTING = 256 * 1024;
const Name = Type.String({ minLength: 1, maxLength: 512 });
const Id = Type.Optional(
  Type.String({ minLength: 1, maxLength: 512, description: 'Install under this id.' }),
);

export const KeyUses = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        name: Type.String(),
        open_requests: Type.Integer(),
        tokens_today: Type.Integer({ description: 'Prompts and answers, since midnight UTC.' }),
        tokens_per_day: Type.Union([Type.Integer(), Type.Null()], { description: 'null: unlimited.' }),
      }),
    ),
  },
  { $id: 'KeyUses' },
);
export type KeyUses = Static<typeof KeyUses>;

const Settable = Type.Object({
  name: Type.String(),
  group: Type.String({ description: 'A member of groups.' }),
  description: Type.String(),
  unset: Type.String({ description: 'What applies while it is not set.' }),
  models: Type.Enum(['chat', 'embedding', 'all'], {
    description: 'The kinds of models that it means something for.',
  }),
  input: Type.Object({
    kind: Type.Enum(['choice', 'number', 'text', 'document', 'lines'], {
      description: 'document: a text of many lines; lines: one text in each line.',
    }),
    words: Type.Optional(Type.Array(Type.String(), { description: 'Usual values; of a choice, all.' })),
    least: Type.Optional(Type.Number()),
    most: Type.Optional(Type.Number()),
    is_whole: Type.Optional(Type.Boolean()),
    expects: Type.Optional(Type.String({ description: 'What a usable text looks like.' })),
  }),
});

export const PageToken = Type.Object({ token: Type.String() }, { $id: 'PageToken' });

const Defaults = Type.Object({
  chat: Type.Union([Type.String(), Type.Null()]),
  embedding: Type.Union([Type.String(), Type.Null()]),
});

export const Library = Type.Object(
  {
    models: Type.Array(
      Type.Object({
        ...ModelEntry.properties,
        kind: Type.String({ description: 'chat, embedding or adapter.' }),
        params: Type.Record(Type.String(), Type.Unknown(), {
          description: 'What hearth set has set, by the names that it takes.',
        }),
        frees_bytes: Type.Integer({
          description:
            'What removing it deletes from the disk; 0: its files stay where they are, or another model has them too.',
        }),
        texts: Type.Record(Type.String(), Type.String(), {
          description: 'The same as text, as settings take it.',
        }),
        signature: Type.Optional(
          Type.Object(
            {
              state: Type.Enum(['trusted', 'unlisted', 'failed', 'unsigned']),
              says: Type.String({ description: 'Who signed it, or what is wrong with that.' }),
            },
            { description: 'As found when it was installed. Absent: nobody looked.' },
          ),
        ),
      }),
    ),
    damaged: Type.Array(Type.Object({ id: Type.String(), reason: Type.String() })),
    defaults: Defaults,
    next_defaults: Type.Object(Defaults.properties, {
      description: 'What the defaults would be once the models that they are now were removed.',
    }),
    restorable: Type.Array(Type.String(), {
      description: 'Models that ship with Hearth and were removed, by id.',
    }),
    groups: Type.Record(Type.String(), Type.String(), {
      description: 'What settings are about: the titles, in the order in which they are shown.',
    }),
    settable: Type.Array(Settable),
  },
  { $id: 'Library' },
);
export type Library = Static<typeof Library>;

export const ModelQuery = Type.Object({ model: Name });
export type ModelQuery = Static<typeof ModelQuery>;

const Bar = Type.Object({ value: Type.Union([Type.Number(), Type.Null()]), text: Type.String() });

const EvalPlot = Type.Object({
  title: Type.String(),
  legend: Type.Array(Type.String()),
  rows: Type.Array(Type.Object({ label: Type.String(), bars: Type.Array(Bar) })),
});
export type EvalPlot = Static<typeof EvalPlot>;

export const ModelEval = Type.Object(
  {
    model: Type.String(),
    eval: Type.Union([
      Type.Object({
        verdict: Type.String(),
        findings: Type.Array(Type.String(), { description: 'What is wrong with the model.' }),
        measured_at: Type.String({ description: 'RFC 3339, UTC.' }),
        outdated: Type.Union([Type.Enum(['file', 'settings']), Type.Null()], {
          description: 'What changed since; null: nothing.',
        }),
        plot: EvalPlot,
      }),
      Type.Null({ description: 'Not measured.' }),
    ]),
  },
  { $id: 'ModelEval' },
);
export type ModelEval = Static<typeof ModelEval>;

export const ForeignModels = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        store: Type.String(),
        id: Type.String(),
        path: Type.String(),
        size_bytes: Type.Optional(Type.Integer()),
      }),
    ),
    problems: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() })),
  },
  { $id: 'ForeignModels' },
);
export type ForeignModels = Static<typeof ForeignModels>;

export const QuantsQuery = Type.Object({ ref: Name });
export type QuantsQuery = Static<typeof QuantsQuery>;

export const Quants = Type.Object(
  {
    repo: Type.String(),
    free_bytes: Type.Integer({ description: 'What the memory of the machine has for models now.' }),
    advised: Type.Union([Type.String(), Type.Null()]),
    data: Type.Array(
      Type.Object({
        label: Type.String(),
        size_bytes: Type.Integer(),
        least_bytes: Type.Integer({ description: 'Weights and process; the KV cache comes on top.' }),
        usual_bytes: Type.Integer({
          description: 'With the KV cache of 8,192 tokens, as far as that is known before the download.',
        }),
        fits: Type.Boolean(),
      }),
    ),
  },
  { $id: 'Quants' },
);
export type Quants = Static<typeof Quants>;

export const SearchQuery = Type.Object({ words: Type.String({ minLength: 1, maxLength: 200 }) });
export type SearchQuery = Static<typeof SearchQuery>;

export const FoundModels = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        repo: Type.String({ description: 'owner/name, as quants and pull take it.' }),
        downloads: Type.Integer({ description: 'Of the last month.' }),
        likes: Type.Integer(),
        gated: Type.Boolean({ description: 'Its terms have to be accepted on the hub first.' }),
      }),
    ),
  },
  { $id: 'FoundModels' },
);
export type FoundModels = Static<typeof FoundModels>;

export const PlanQuery = Type.Object({
  model: Name,
  num_ctx: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,8}$' })),
});
export type PlanQuery = Static<typeof PlanQuery>;

export const LoadPlan = Type.Object(
  {
    model: Type.String(),
    loaded: Type.Boolean(),
    slots: Type.Integer(),
    num_ctx: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The window of one request, tokens; null: not known before the load.',
    }),
    memory: Type.Record(Type.String(), Type.Integer(), { description: 'Bytes by device.' }),
    evicts: Type.Array(Type.String(), { description: 'Models that would be unloaded to make room.' }),
  },
  { $id: 'LoadPlan' },
);
export type LoadPlan = Static<typeof LoadPlan>;

export const PullRequest = Type.Object(
  { ref: Type.String({ minLength: 1, maxLength: 2048 }), id: Id },
  { $id: 'PullRequest' },
);
export type PullRequest = Static<typeof PullRequest>;

export const ImportRequest = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'A GGUF file on the machine of the service.',
    }),
    id: Id,
    copy: Type.Optional(Type.Boolean()),
    store: Type.Optional(
      Type.String({ maxLength: 32, description: 'Another program; then path is the id of its model.' }),
    ),
  },
  { $id: 'ImportRequest' },
);
export type ImportRequest = Static<typeof ImportRequest>;

export const NamedModel = Type.Object({ model: Name }, { $id: 'NamedModel' });
export type NamedModel = Static<typeof NamedModel>;

export const RestoreRequest = Type.Object(
  { model: Type.String({ minLength: 1, maxLength: 512, description: 'One of restorable.' }) },
  { $id: 'RestoreRequest' },
);
export type RestoreRequest = Static<typeof RestoreRequest>;

export const AliasRequest = Type.Object({ model: Name, alias: Name }, { $id: 'AliasRequest' });
export type AliasRequest = Static<typeof AliasRequest>;

export const SettingsRequest = Type.Object(
  {
    model: Name,
    settings: Type.Record(
      Type.String({ maxLength: 64 }),
      Type.Union([Type.String({ maxLength: LONGEST_SETTING }), Type.Null()]),
      {
        maxProperties: 64,
        description:
          'By name, as hearth set takes them; null removes one. A template or a tool format is a known name or the text itself, never a path.',
      },
    ),
  },
  { $id: 'SettingsRequest' },
);
export type SettingsRequest = Static<typeof SettingsRequest>;

export const Changed = Type.Object(
  {
    model: Type.String({ description: 'The id or alias that it was about.' }),
    num_ctx: Type.Optional(
      Type.Integer({
        description: 'The window that holds where a larger one was set than the model can use.',
      }),
    ),
    note: Type.Optional(Type.String()),
  },
  { $id: 'Changed' },
);
export type Changed = Static<typeof Changed>;

/** Events of a pull, an import or a check of files; the last is `success` or `error`. */
export const PROGRESS_EVENTS = {
  /** The data is what `hearth pull --json` prints. */
  progress: 'progress',
  /** `{"id", "ok", "files"?}`. */
  success: 'success',
  /** The failure in the shape of ErrorBody. */
  error: 'error',
} as const;
