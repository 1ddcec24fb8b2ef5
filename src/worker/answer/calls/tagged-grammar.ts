/** Arguments between tags: each property of the schema in its order, required ones always. */
import { gbnfLiteral, type GbnfWriter } from '../../../lib/grammar/gbnf/gbnf-writer.ts';
import { anyValue } from '../../../lib/grammar/json-grammar.ts';
import { schemaRule } from '../../../lib/grammar/schema-grammar.ts';
import { admittedTypes, isSchema, typeOf } from '../../../lib/tool-format/values/schema-types.ts';
import {
  JSON_TYPES,
  type JsonType,
  type TaggedArguments,
  type ValueForm,
} from '../../../lib/tool-format/tool-format.ts';
import { pythonText, quotedText } from '../../../lib/tool-format/write-calls.ts';
import { isSvcError } from '../../../lib/errors/svc-error.ts';
import { textThrough } from './free-text.ts';
import { wordsGbnf } from './words-grammar.ts';
import { looseScalar, looseValue } from './loose-grammar.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Target {
  readonly writer: GbnfWriter;
  readonly form: TaggedArguments;
  /** The schema of all arguments, for references. */
  readonly root: Schema;
  readonly path: string;
}

export function taggedRule(
  writer: GbnfWriter,
  form: TaggedArguments,
  parameters: Schema,
  path: string,
): string {
  const target = { writer, form, root: parameters, path };
  const { properties, required, additionalProperties } = parameters;
  const declared = isSchema(properties) ? Object.entries(properties) : [];
  // A grammar cannot close a tag of a free name by the same name.
  const hasFreeKeys = form.afterValue.every((word) => typeof word === 'string');
  const isClosed = properties === undefined ? false : (additionalProperties ?? false) === false;
  const isOpen = hasFreeKeys && !isClosed;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const pairs = declared.map(([name, schema]) => ({
    rule: pairRule(target, name, schema),
    required: needed.includes(name),
  }));
  return members(target, pairs, isOpen ? pairRule(target, null, undefined) : null);
}

/** One chain of rules before the first separator and one after it, from the last property to the first. */
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

/** One argument; without a name, any. */
function pairRule(target: Target, name: string | null, schema: unknown): string {
  const { writer, form, root } = target;
  const types = admittedTypes(schema, root);
  const admitted = types === null ? JSON_TYPES : JSON_TYPES.filter((type) => types.has(type));
  const key = name === null ? '[A-Za-z0-9_.-]{1,64}' : gbnfLiteral(name);
  const lead = `${wordsGbnf([form.beforeKey])} ${key}`;
  const values = valueRules(target, name, schema, admitted);
  return writer.rule(values.map((value) => `${lead} ${value}`).join(' | '));
}

/** What stands behind the key, in each way that the schema leaves. */
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
    const narrowed = ofText.length === types.length ? schema : undefined;
    return `${wordsGbnf([text])} ${valueRule(target, name, narrowed, ofText)}`;
  });
}

function valueRule(target: Target, name: string | null, schema: unknown, types: readonly JsonType[]): string {
  const { writer, form } = target;
  const behind = wordsGbnf(form.afterValue, '', name);
  const words = enumOf(schema, target.root);
  if (form.strings.as === 'raw' && types.includes('string')) {
    if (words !== null)
      return writer.rule(words.map((word) => `${gbnfLiteral(textOf(word))} ${behind}`).join(' | '));
    return rawText(target, name);
  }
  if (form.others.as === 'json') return `${jsonRule(target, schema, types)} ${behind}`;
  if (form.others.as === 'nested') {
    if (types.every((type) => type !== 'array' && type !== 'object'))
      return `${jsonRule(target, schema, types)} ${behind}`;
    return rawText(target, name);
  }
  if (words !== null)
    return `${writer.rule(words.map((word) => gbnfLiteral(looseText(word, form.strings))).join(' | '))} ${behind}`;
  const isScalar = types.every((type) => type !== 'array' && type !== 'object');
  return `${isScalar ? looseScalar(writer, form.strings, types) : looseValue(writer, form.strings)} ${behind}`;
}

/** Any text up to the words behind a value. A key of any name can stand in these no more than once. */
function rawText({ writer, form }: Target, name: string | null): string {
  const [first = '', ...rest] = form.afterValue.map((word) => (typeof word === 'string' ? word : name));
  const known = [first, ...rest].every((word) => word !== null);
  if (known) return textThrough(writer, [first, ...rest].join('').trim());
  return `${textThrough(writer, (first ?? '').trim())} ${wordsGbnf(form.afterValue.slice(1))}`;
}

/** JSON of the schema; where the schema cannot be compiled by itself, any JSON, which is checked when it is whole. */
function jsonRule({ writer, root, path }: Target, schema: unknown, types: readonly JsonType[]): string {
  const json = writer.nested({ spacing: 'spaced' });
  if (!isSchema(schema))
    return types.length === JSON_TYPES.length ? anyValue(json) : schemaRule(json, { type: [...types] }, path);
  const { $defs, definitions } = root;
  const whole = {
    ...schema,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
  try {
    return schemaRule(json, whole, path);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return anyValue(json);
  }
}

/** The only values that the schema admits; null: not listed. */
function enumOf(schema: unknown, root: unknown): readonly unknown[] | null {
  if (!isSchema(schema)) return null;
  const types = admittedTypes(schema, root);
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values) || values.length === 0) return null;
  const allowed = values.filter((value) => types === null || types.has(typeOf(value)));
  return allowed.every((value) => typeof value !== 'object' || value === null) ? allowed : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function looseText(value: unknown, strings: ValueForm): string {
  return strings.as === 'quoted' ? quotedText(value, strings.quote) : pythonText(value);
}
