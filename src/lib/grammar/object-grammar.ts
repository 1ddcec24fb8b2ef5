/**
 * GBNF for objects: properties in the order of the schema, each at most once, required ones always.
 * Without `additionalProperties` only declared properties are generated; with it, others follow the declared ones.
 */
import type { GbnfWriter } from './gbnf/gbnf-writer.ts';
import { anyObject } from './json-grammar.ts';
import {
  at,
  countOf,
  isObject,
  malformed,
  namesOf,
  type Schema,
  type SchemaPath,
  unenforceable,
} from './schema-walk.ts';
import { stringOf } from './string-grammar.ts';

/** Compiles a sub-schema to the name of its rule. */
export type Compile = (schema: unknown, path: SchemaPath) => string;

interface Property {
  readonly pair: string;
  readonly required: boolean;
}

export function objectRule(writer: GbnfWriter, schema: Schema, path: SchemaPath, compile: Compile): string {
  const declared = declaredProperties(schema, path);
  const required = new Set(namesOf(schema, 'required', path));
  const extra = schema['additionalProperties'];
  writer.budget.requireNodes(Math.max(Object.keys(declared).length, required.size));
  const free =
    Object.keys(declared).length === 0 && required.size === 0 && schema['properties'] === undefined;
  checkCounts(schema, path, declared, required);
  if (free && (extra === undefined || extra === true) && !limitsCount(schema)) return anyObject(writer);
  const schemas: Record<string, unknown> = { ...declared };
  for (const name of required) {
    if (name in schemas) continue;
    if (extra === false)
      throw malformed(at(path, 'required'), `"${name}" is required, but additionalProperties forbids it`);
    schemas[name] = extra ?? true;
  }
  const properties = Object.entries(schemas).map(([name, property]) => ({
    pair: pairRule(writer, name, compile(property, at(at(path, 'properties'), name))),
    required: required.has(name),
  }));
  const extraPair = extraPairRule(
    writer,
    free ? (extra ?? true) : extra,
    Object.keys(schemas),
    path,
    compile,
  );
  return writer.rule(
    `${writer.literal('{')} ${members(writer, properties, extraPair, schema)} ${writer.literal('}')}`,
  );
}

function declaredProperties(schema: Schema, path: SchemaPath): Schema {
  const declared = schema['properties'] ?? {};
  if (!isObject(declared)) throw malformed(at(path, 'properties'), 'it must be an object');
  // JSON.parse makes it a plain member, but assigning it elsewhere would change a prototype.
  if (Object.hasOwn(declared, '__proto__'))
    throw malformed(at(path, 'properties'), 'a property cannot be named "__proto__"');
  return declared;
}

function pairRule(writer: GbnfWriter, name: string, value: string): string {
  return `${writer.literal(JSON.stringify(name))} ${writer.colon()} ${value}`;
}

/** Right-linear rules from the last property to the first: one chain before the first comma, one after it. */
function members(
  writer: GbnfWriter,
  properties: readonly Property[],
  extraPair: string | null,
  schema: Schema,
): string {
  const limits = mapLimits(schema, properties, extraPair);
  let after = extraPair === null ? '""' : writer.rule(`(${writer.comma()} ${extraPair})*`);
  let before = extraPair === null ? '""' : mapBody(writer, extraPair, limits);
  for (const { pair, required } of properties.toReversed()) {
    const start = `${pair} ${after}`;
    const next = `${writer.comma()} ${pair} ${after}`;
    before = writer.rule(required ? start : `${start} | ${before}`);
    after = writer.rule(required ? next : `${next} | ${after}`);
  }
  return before;
}

function mapBody(writer: GbnfWriter, pair: string, limits: { min: number; max: number | null }): string {
  if (limits.max === 0) return '""';
  const next = writer.rule(`${writer.comma()} ${pair}`);
  const more = `${next}${limits.max === null ? '*' : `{0,${limits.max - 1}}`}`;
  return writer.rule(limits.min > 0 ? `${pair} ${more}` : `(${pair} ${more})?`);
}

function mapLimits(schema: Schema, properties: readonly Property[], extraPair: string | null) {
  if (properties.length > 0 || extraPair === null) return { min: 0, max: null };
  const max = schema['maxProperties'];
  return {
    min: Number(schema['minProperties'] ?? 0),
    max: typeof max === 'number' ? Math.min(max, 100) : null,
  };
}

function limitsCount(schema: Schema): boolean {
  return schema['minProperties'] !== undefined || schema['maxProperties'] !== undefined;
}

/** Counts are enforced where the shape implies them, and on pure maps; elsewhere a repeated key would defeat them. */
function checkCounts(
  schema: Schema,
  path: SchemaPath,
  declared: Schema,
  required: ReadonlySet<string>,
): void {
  const min = countOf(schema, 'minProperties', path);
  const max = countOf(schema, 'maxProperties', path);
  const names = new Set([...Object.keys(declared), ...required]);
  const isMap =
    names.size === 0 && schema['additionalProperties'] !== false && schema['properties'] === undefined;
  if (min !== null && min > required.size && !(isMap && min === 1)) {
    throw unenforceable(
      path,
      'minProperties',
      'only the number of required properties is certain; list them in "required"',
    );
  }
  const open = schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false;
  if (max !== null && !isMap && (open || names.size > max))
    throw unenforceable(path, 'maxProperties', 'optional properties are not counted; declare fewer of them');
}

function extraPairRule(
  writer: GbnfWriter,
  extra: unknown,
  names: readonly string[],
  path: SchemaPath,
  compile: Compile,
): string | null {
  if (extra === undefined || extra === false) return null;
  const value = compile(extra, at(path, 'additionalProperties'));
  const key = names.length === 0 ? stringOf(writer, 0, null) : otherKey(writer, names);
  return writer.rule(`${key} ${writer.colon()} ${value}`);
}

const KEY_CHARS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'];

/** A plain key other than the declared names: a repeated key would override the value already checked. */
function otherKey(writer: GbnfWriter, names: readonly string[]): string {
  const rest = writer.rule('[A-Za-z0-9_]{0,40}');
  const node = (prefix: string, alike: readonly string[]): string => {
    writer.budget.spend('steps', alike.length);
    const next = new Map<string, string[]>();
    for (const name of alike) {
      if (name === prefix) continue;
      const char = String.fromCodePoint(name.codePointAt(prefix.length) ?? 0);
      const group = next.get(char);
      if (group === undefined) next.set(char, [name]);
      else group.push(name);
    }
    const others = KEY_CHARS.filter((char) => !next.has(char)).join('');
    const options = others === '' ? [] : [`[${others}] ${rest}`];
    for (const [char, group] of next) {
      if (KEY_CHARS.includes(char) && prefix.length < 40)
        options.push(`"${char}" ${node(prefix + char, group)}`);
    }
    if (prefix !== '' && !alike.includes(prefix)) options.push('""');
    return writer.rule(options.join(' | '));
  };
  return writer.rule(`${writer.literal('"')} ${node('', names)} ${writer.literal('"')}`);
}
