import { gbnfLiteral, type GbnfWriter } from '../../../../packages/schema-grammar/src/gbnf/gbnf-writer.ts';
import { anyValue } from '../../../../packages/schema-grammar/src/json-grammar.ts';
import { readableFor, schemaRule } from '../../../../packages/schema-grammar/src/schema-grammar.ts';
import {
  schemaOptions,
  type SchemaOption,
} from '../../../../packages/chat-templates/src/tool-format/values/schema-options.ts';
import {
  admittedTypes,
  isSchema,
  valueType,
} from '../../../../packages/chat-templates/src/tool-format/values/schema-types.ts';
import {
  JSON_TYPES,
  type JsonType,
  type TaggedArguments,
  type ValueForm,
} from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';
import { pythonText, quotedText } from '../../../../packages/chat-templates/src/tool-format/write-calls.ts';
import { keepSpellings, writeJson } from '../../../lib/json/spelled-numbers.ts';
import { GrammarError } from '../../../../packages/schema-grammar/src/grammar-error.ts';
import { textThrough } from './free-text.ts';
import type { UnheldOfTool } from './unheld-keywords.ts';
import { wordsGbnf } from './words-grammar.ts';
import { numberRule } from '../../../../packages/schema-grammar/src/number/number-grammar.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Target {
  readonly writer: GbnfWriter;
  readonly form: TaggedArguments;
  readonly root: Schema;
  readonly path: string;
  readonly unheld: UnheldOfTool;
}

type Name = string | null;

export function taggedRule(
  writer: GbnfWriter,
  form: TaggedArguments,
  parameters: Schema,
  { path, unheld }: Pick<Target, 'path' | 'unheld'>,
): string {
  const readable = readableFor(writer, parameters, path);
  const root = isSchema(readable) ? readable : {};
  const target = { writer, form, root, path, unheld };
  const { properties, required, additionalProperties } = root;
  const declared = isSchema(properties) ? Object.entries(properties) : [];
  // A grammar cannot close a tag of a free name by the same name.
  const hasFreeKeys = form.afterValue.every((word) => typeof word === 'string');
  const isClosed = properties === undefined ? false : (additionalProperties ?? false) === false;
  const isOpen = hasFreeKeys && !isClosed;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  unheld.root(isOpen);
  const pairs = declared.map(([name, schema]) => ({
    rule: pairRule(target, name, schema),
    required: needed.includes(name),
  }));
  return members(target, pairs, isOpen ? pairRule(target, null, undefined) : null);
}

/** One chain of rules before the first separator and one after it, built from the last property to the first. */
function members(
  { writer, form }: Target,
  pairs: readonly { rule: string; required: boolean }[],
  other: string | null,
): string {
  const separator = wordsGbnf([form.between]);
  let after = other === null ? '""' : writer.rule(`(${separator} ${other})*`);
  let before = other === null ? '""' : writer.rule(`(${other} ${after})?`);
  for (const { rule, required } of pairs.toReversed()) {
    const first = `${rule} ${after}`;
    const next = `${separator} ${rule} ${after}`;
    before = writer.rule(required ? first : `${first} | ${before}`);
    after = writer.rule(required ? next : `${next} | ${after}`);
  }
  return before;
}

function pairRule(target: Target, name: string | null, schema: unknown): string {
  const { writer, form, root } = target;
  const types = admittedTypes(schema, root);
  const admitted = types === null ? JSON_TYPES : JSON_TYPES.filter((type) => types.has(type));
  const key = name === null ? '[A-Za-z0-9_.-]{1,64}' : gbnfLiteral(name);
  const lead = `${wordsGbnf([form.beforeKey])} ${key}`;
  const values = valueRules(target, name, schema, admitted);
  return writer.rule(values.map((value) => `${lead} ${value}`).join(' | '));
}

function valueRules(
  target: Target,
  name: string | null,
  schema: unknown,
  types: readonly JsonType[],
): string[] {
  const { form } = target;
  if (typeof form.beforeValue === 'string') {
    const middle = wordsGbnf([form.beforeValue]);
    return [`${middle} ${valueRule(target, name, schema, types)}`];
  }
  const texts = form.beforeValue;
  return [...new Set(types.map((type) => texts[type]))].map((text) => {
    const ofText = types.filter((type) => texts[type] === text);
    return `${wordsGbnf([text])} ${valueRule(target, name, schema, ofText)}`;
  });
}

function valueRule(target: Target, name: string | null, schema: unknown, types: readonly JsonType[]): string {
  const { writer, form, root, unheld } = target;
  const behind = wordsGbnf(form.afterValue, '', name);
  const mayBeRaw = form.strings.as === 'raw' && types.includes('string');
  if (form.others.as === 'json' && !mayBeRaw) return `${jsonRule(target, name, schema, types)} ${behind}`;
  const options = schemaOptions(schema, root).map((option) => narrowed(target, option, types));
  const isText = options.some((option) => 'schema' in option && option.types.includes('string'));
  if (form.strings.as === 'raw' && isText) {
    unheld.of(name, 'scalars');
    return rawText(target, name);
  }
  // Elements in nested tags are constrained only if all of them are listed.
  const isFree = (option: Narrowed): boolean =>
    !isScalar(option.types) && nestedList(target, option) === null;
  if (form.others.as === 'nested' && options.some(isFree)) {
    unheld.of(name, 'anything');
    return rawText(target, name);
  }
  const values = [...new Set(options.flatMap((option) => optionRule(target, name, option) ?? []))];
  // A schema that allows nothing is refused once the call is whole.
  if (values.length === 0) return rawText(target, name);
  return `${writer.rule(values.join(' | '))} ${behind}`;
}

type Narrowed = SchemaOption & { readonly types: readonly JsonType[] };

function narrowed({ root }: Target, option: SchemaOption, types: readonly JsonType[]): Narrowed {
  const admitted =
    'value' in option ? new Set([valueType(option.value)]) : admittedTypes(option.schema, root);
  return { ...option, types: types.filter((type) => admitted === null || admitted.has(type)) };
}

const isScalar = (types: readonly JsonType[]): boolean =>
  types.every((type) => type !== 'array' && type !== 'object');

function optionRule(target: Target, name: Name, option: Narrowed, depth = 0): string | null {
  const { writer, form, unheld } = target;
  if (option.types.length === 0) return null;
  const isJson = form.others.as === 'json' || form.others.as === 'nested';
  if ('value' in option) {
    const { value } = option;
    // Strings within a list have quotes, except in tags of their own.
    const isRaw = form.strings.as === 'raw' && (depth === 0 || form.others.as === 'nested');
    if (typeof value === 'string' && isRaw) return gbnfLiteral(value);
    if (!isJson) return gbnfLiteral(looseText(value, form.strings));
    const isWord = typeof value !== 'string' && isScalar(option.types);
    return isWord ? gbnfLiteral(writeJson(value)) : jsonRule(target, name, { const: value }, option.types);
  }
  const nested = nestedList(target, option);
  if (nested !== null) {
    unheld.of(name, 'scalars');
    return nested;
  }
  if (isJson) return jsonRule(target, name, option.schema, option.types);
  const each = depth < DEEPEST_LIST ? elementOptions(target, option) : null;
  if (each !== null) {
    unheld.of(name, 'scalars');
    const item = writer.rule(
      [...new Set(each.flatMap((of) => optionRule(target, name, of, depth + 1) ?? []))].join(' | ') || '""',
    );
    return writer.rule(`"[" (${item} ("," " "? ${item})*)? "]"`);
  }
  unheld.of(name, isScalar(option.types) ? 'scalars' : 'anything');
  return isScalar(option.types)
    ? looseScalar(writer, form.strings, option.types)
    : looseValue(writer, form.strings);
}

/** Deepest constrained list within lists, because a schema may refer to itself. */
const DEEPEST_LIST = 3;

function elementOptions(target: Target, option: Narrowed): readonly Narrowed[] | null {
  const items = 'schema' in option && isSchema(option.schema) ? option.schema['items'] : undefined;
  if (!isSchema(items) || option.types.some((type) => type !== 'array')) return null;
  return schemaOptions(items, target.root).map((of) => narrowed(target, of, JSON_TYPES));
}

function nestedList(target: Target, option: Narrowed): string | null {
  const { writer, form } = target;
  if (form.others.as !== 'nested') return null;
  const each = elementOptions(target, option);
  if (each === null || !each.every((of) => 'value' in of && isScalar(of.types))) return null;
  const { mark } = form.others;
  const words = writer.rule(each.flatMap((of) => optionRule(target, null, of, 1) ?? []).join(' | ') || '""');
  const element = `${gbnfLiteral(`${mark}<item>`)} ${words} ${gbnfLiteral(`${mark}</item>`)} [ \\n]{0,2}`;
  return writer.rule(`"[]" | [ \\n]{0,2} (${element})*`);
}

function rawText({ writer, form }: Target, name: string | null): string {
  const [first = '', ...rest] = form.afterValue.map((word) => (typeof word === 'string' ? word : name));
  const known = [first, ...rest].every((word) => word !== null);
  if (known) return textThrough(writer, [first, ...rest].join('').trim());
  return `${textThrough(writer, (first ?? '').trim())} ${wordsGbnf(form.afterValue.slice(1))}`;
}

/** JSON of the schema; any JSON, checked once it is whole, if the schema cannot be compiled alone. */
function jsonRule(
  { writer, root, path, unheld }: Target,
  name: Name,
  schema: unknown,
  types: readonly JsonType[],
): string {
  const json = writer.nested({ spacing: 'spaced' });
  if (!isSchema(schema))
    return types.length === JSON_TYPES.length ? anyValue(json) : schemaRule(json, { type: [...types] }, path);
  const { $defs, definitions } = root;
  const copy = {
    ...schema,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
  const whole = keepSpellings(copy, schema);
  try {
    return schemaRule(json, whole, path);
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error;
    unheld.of(name, 'anything');
    return anyValue(json);
  }
}

function looseText(value: unknown, strings: ValueForm): string {
  return strings.as === 'quoted' ? quotedText(value, strings.quote) : pythonText(value);
}

function looseValue(writer: GbnfWriter, strings: ValueForm): string {
  return writer.shared(`loose value ${JSON.stringify(strings)}`, () => {
    const value = writer.reserve();
    const scalar = looseScalar(writer, strings, ['string', 'number', 'boolean', 'null']);
    const isPython = strings.as === 'python';
    const key = isPython ? stringRule(writer, strings) : writer.rule('[A-Za-z_] [A-Za-z0-9_-]{0,63}');
    const pair = writer.rule(`${key} ":" " "? ${value}`);
    const list = `"[" (${value} ("," " "? ${value})*)? "]"`;
    const object = `"{" (${pair} ("," " "? ${pair})*)? "}"`;
    writer.define(value, `${scalar} | ${list} | ${object}`);
    return value;
  });
}

function looseScalar(writer: GbnfWriter, strings: ValueForm, types: readonly JsonType[]): string {
  const isPython = strings.as === 'python';
  const options: Partial<Record<JsonType, string>> = {
    string: stringRule(writer, strings),
    number: numberRule(writer, {}, ''),
    boolean: isPython ? '"True" | "False"' : '"true" | "false"',
    null: isPython ? '"None"' : '"null"',
  };
  return writer.rule(types.flatMap((type) => options[type] ?? []).join(' | '));
}

function stringRule(writer: GbnfWriter, strings: ValueForm): string {
  if (strings.as === 'quoted')
    return writer.rule(`${gbnfLiteral(strings.quote)} ${textThrough(writer, strings.quote)}`);
  const escape = String.raw`"\\" [\\'"nrt]`;
  return writer.rule(
    [
      String.raw`"'" ([^'\\\x00-\x1F] | ${escape})* "'"`,
      String.raw`"\"" ([^"\\\x00-\x1F] | ${escape})* "\""`,
    ].join(' | '),
  );
}
