/** Everything that is known of one installed model: the document of `hearth show --passport --json` and of the page. */
import { type Static, type TSchema, Type } from 'typebox';

const Text = Type.String();
const orNull = <Shape extends TSchema>(shape: Shape, description: string) =>
  Type.Union([shape, Type.Null()], { description });
const TextOrNull = Type.Union([Text, Type.Null()]);
const Sha256 = Type.String({ description: 'SHA-256 in hex.' });
const Moment = Type.String({ description: 'RFC 3339, UTC.' });

const PATH_RULE = 'null: it is a path, and only the user that runs the service may see it.';
const SignatureState = Type.Enum(['trusted', 'unlisted', 'failed', 'unsigned']);

/** Of llama.cpp. */
const Library = Type.Object({ release: Text, sha256: orNull(Sha256, 'Of its files; null: not known.') });
const isCurrent = Type.Boolean({ description: 'False: its settings changed since.' });

const Signatures = Type.Object({
  state: SignatureState,
  says: Type.String({ description: 'The same in a sentence.' }),
  checked_at: Moment,
  files: Type.Array(
    Type.Object({
      name: Text,
      state: SignatureState,
      signature: orNull(Text, 'The name of its file.'),
      signer: TextOrNull,
      reason: orNull(Text, 'What is wrong with it.'),
    }),
  ),
});
export type SignatureShown = Static<typeof Signatures>;

const Template = Type.Object({
  source: Type.Enum(['file', 'set', 'none']),
  name: TextOrNull,
  sha256: orNull(
    Sha256,
    'Of the text that conversations are written with; null where Hearth brings the template along by its name.',
  ),
});
export type TemplateShown = Static<typeof Template>;

const CheckShown = Type.Object({
  checked_at: Moment,
  hearth: Text,
  library: Library,
  is_current: isCurrent,
  cases: Type.Object({
    all: Type.Integer(),
    passed: Type.Integer(),
    left: Type.Integer({ description: 'Not tried.' }),
    failed: Type.Array(Text),
  }),
  defects: Type.Array(Text),
});
export type CheckShown = Static<typeof CheckShown>;

const EvalShown = Type.Object({
  issued_at: Moment,
  hearth: Text,
  library: Library,
  is_current: isCurrent,
  verdict: Text,
  findings: Type.Array(Text, { description: 'What is wrong with the model.' }),
  card: orNull(Text, `The file of the signed card; ${PATH_RULE}`),
});
export type EvalShown = Static<typeof EvalShown>;

const ReferenceShown = Type.Object({
  of: orNull(Text, 'The model that was measured; null: only the user that runs the service may see it.'),
  issued_at: Moment,
  hearth: Text,
  library: Library,
  bits_per_byte: orNull(
    Type.Number(),
    'Of this model, for all texts; null: their bytes could not be counted alike.',
  ),
});
export type ReferenceShown = Static<typeof ReferenceShown>;

export const Passport = Type.Object(
  {
    object: Type.Literal('svc.passport'),
    model: Text,
    kind: Type.String({ description: 'chat, embedding or adapter.' }),
    architecture: Text,
    quant: TextOrNull,
    parameter_count: Type.Union([Type.Integer(), Type.Null()]),
    license: orNull(Text, 'null: its file does not state one.'),
    origin: Type.Object({
      type: Text,
      ref: orNull(Text, `Its name there; ${PATH_RULE}`),
      commit: TextOrNull,
      endpoint: orNull(Text, 'The hub.'),
      installed_at: Moment,
    }),
    files: Type.Array(
      Type.Object({
        role: Text,
        path: orNull(Text, PATH_RULE),
        size_bytes: Type.Integer(),
        sha256: orNull(Sha256, 'null: not known.'),
        is_computed: Type.Boolean({
          description:
            'False: another program states the digest, and nothing has compared it with the bytes.',
        }),
      }),
    ),
    signatures: orNull(Signatures, 'null: nobody looked for signatures when it was installed.'),
    template: Template,
    tool_format: orNull(
      Type.Object({ name: Text, sha256: Sha256 }),
      'How it writes calls; null: not of a chat model, or not known.',
    ),
    sampling: Type.Object({
      recommended: Type.Record(Type.String(), Type.Number(), { description: 'By the names of its file.' }),
      set: Type.Record(Type.String(), Type.Unknown(), {
        description: 'What the user set, by the names that hearth set takes.',
      }),
    }),
    check: orNull(CheckShown, 'What hearth check found last; null: not checked.'),
    eval: orNull(EvalShown, 'What hearth eval measured last; null: not measured.'),
    eval_reference: orNull(
      ReferenceShown,
      'What the last hearth eval found that compared another model with this one; null: none did.',
    ),
  },
  { $id: 'Passport' },
);
export type Passport = Static<typeof Passport>;
