/** JSON schema of a format: in a user's file, in a worker's report, and in `hearth show --json`. */
import { Type } from 'typebox';
import { JSON_TYPES, type SlotName } from '../../../packages/chat-templates/src/tool-format/tool-format.ts';

const LONGEST_TEXT = 400;
const MOST_WORDS = 16;
const MOST_FORMS = 8;

const CLOSED = { additionalProperties: false } as const;

const Text = Type.String({ maxLength: LONGEST_TEXT });
const Mark = Type.String({ minLength: 1, maxLength: LONGEST_TEXT });
const OneOf = <Word extends string>(...words: readonly Word[]) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words] });

const Slot = Type.Object({ slot: OneOf<SlotName>('name', 'id', 'index', 'key') }, CLOSED);
const Words = Type.Array(Type.Union([Text, Slot]), { maxItems: MOST_WORDS });

const ValueForm = Type.Union([
  Type.Object({ as: OneOf('raw', 'json', 'python') }, CLOSED),
  Type.Object({ as: Type.Literal('quoted'), quote: Mark }, CLOSED),
  Type.Object({ as: Type.Literal('nested'), mark: Mark }, CLOSED),
]);

const TextsOfTypes = Type.Object(
  Object.fromEntries(JSON_TYPES.map((type) => [type, Text])) as Record<
    (typeof JSON_TYPES)[number],
    typeof Text
  >,
  CLOSED,
);

const Arguments = Type.Union([
  Type.Object({ kind: Type.Literal('json'), spacing: OneOf('compact', 'spaced') }, CLOSED),
  Type.Object(
    {
      kind: Type.Literal('tagged'),
      between: Text,
      beforeKey: Text,
      beforeValue: Type.Union([Mark, TextsOfTypes]),
      afterValue: Words,
      strings: ValueForm,
      others: ValueForm,
    },
    CLOSED,
  ),
]);

const Tools = Type.Object(
  {
    name: Type.String({ pattern: '^[^\\x00-\\x1f\\x7f]{1,200}$' }),
    trigger: Text,
    announcement: Type.Optional(Mark),
    section: Type.Object({ open: Text, between: Text, close: Text }, CLOSED),
    call: Type.Object({ before: Words, after: Words }, CLOSED),
    arguments: Arguments,
    atStart: Type.Boolean(),
    several: Type.Boolean(),
  },
  CLOSED,
);

const Channels = Type.Object(
  {
    name: Text,
    start: Mark,
    message: Mark,
    ends: Type.Array(Mark, { minItems: 1, maxItems: MOST_FORMS }),
    words: Text,
    thought: Type.Union([Mark, Type.Null()]),
    callee: Text,
    calls: Type.Array(Words, { minItems: 1, maxItems: MOST_FORMS }),
  },
  CLOSED,
);

const Members = {
  tools: Type.Union([Tools, Type.Null()]),
  channels: Type.Union([Channels, Type.Null()]),
  thinking: Type.Union([Type.Object({ open: Mark, close: Mark }, CLOSED), Type.Null()]),
  content: Type.Union([
    Type.Object({ open: Text, close: Text, always: Type.Boolean() }, CLOSED),
    Type.Null(),
  ]),
  history: Type.Object(
    {
      calls: OneOf('template', 'text'),
      arguments: OneOf('object', 'text'),
      emptyContent: OneOf('empty', 'null'),
      ids: OneOf('any', 'nine', 'functions'),
    },
    CLOSED,
  ),
  toolsVariable: Type.Object(
    { name: OneOf('tools', 'xml_tools', 'functions'), as: OneOf('list', 'text') },
    CLOSED,
  ),
  restart: Text,
};

export const FormatShape = Type.Object(Members, CLOSED);

export const GivenShape = Type.Partial(FormatShape, CLOSED);
