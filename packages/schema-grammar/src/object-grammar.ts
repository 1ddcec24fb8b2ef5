/**
 * GBNF for objects: properties in the order of the schema, each at most once, required ones always. If a schema
 * declares properties and does not mention others, none are generated, which is reported as narrower; otherwise
 * others follow the declared ones.
 */
import type { GbnfWriter } from './gbnf/gbnf-writer.ts';
import { anyObject } from './json-grammar.ts';
import { extraPairRule, patternSchemas } from './object-keys.ts';
import {
  at,
  type Compile,
  readCount,
  impossible,
  isObject,
  malformed,
  readNames,
  possible,
  type Schema,
  type SchemaPath,
} from './schema/schema-walk.ts';
import { accepts } from './schema/schema-value.ts';

interface Property {
  readonly pair: string;
  readonly required: boolean;
}

interface Counts {
  readonly min: number;
  readonly max: number | null;
}

/** Chosen: counting more properties would make too many rules. */
const MAX_COUNTED_PROPERTIES = 200;
/** Limit of counted members of a plain map; a larger one is left to the check of the answer. */
const MAX_MEMBERS = 100;

export function objectRule(writer: GbnfWriter, schema: Schema, path: SchemaPath, compile: Compile): string {
  const declared = declaredProperties(schema, path);
  const required = new Set(readNames(schema, 'required', path));
  const extra = schema['additionalProperties'] ?? schema['unevaluatedProperties'];
  writer.budget.requireNodes(Math.max(declared.size, required.size));
  const isMap = declared.size === 0 && required.size === 0 && schema['properties'] === undefined;
  const isFree = isMap && (extra === undefined || extra === true) && !limitsMembers(schema);
  if (isFree) return anyObject(writer);
  const properties = propertyRules(writer, { schema, declared, required, extra, path, compile });
  const names = [...new Set([...declared.keys(), ...required])];
  // A property that is only forbidden does not restrict others.
  const isListed =
    declared.size === 0
      ? schema['properties'] !== undefined
      : [...declared.values()].some((each) => each !== false);
  const declares = isListed || schema['patternProperties'] !== undefined;
  if (declares && extra === undefined) writer.narrowed(path, 'additionalProperties');
  const rest = declares ? extra : (extra ?? true);
  const extraPair = extraPairRule(writer, { schema, rest, names, path, compile });
  const counts = remainingCounts(writer, schema, { path, properties, isOpen: extraPair !== null });
  return writer.rule(
    `${writer.literal('{')} ${members(writer, properties, extraPair, counts)} ${writer.literal('}')}`,
  );
}

function declaredProperties(schema: Schema, path: SchemaPath): ReadonlyMap<string, unknown> {
  const declared = schema['properties'] ?? {};
  if (!isObject(declared)) throw malformed(at(path, 'properties'), 'it must be an object');
  return new Map(Object.entries(declared));
}

interface Declared {
  readonly schema: Schema;
  readonly declared: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  readonly extra: unknown;
  readonly path: SchemaPath;
  readonly compile: Compile;
}

/** An optional property without a possible value is never generated; a required one makes the object impossible. */
function propertyRules(writer: GbnfWriter, from: Declared): Property[] {
  const { schema, declared, required, path, compile } = from;
  const schemas = new Map(declared);
  for (const name of required) if (!schemas.has(name)) schemas.set(name, undeclared(from, name));
  const names = schema['propertyNames'];
  return [...schemas].flatMap(([name, property]): Property[] => {
    const parts = patternSchemas(schema, name);
    const whole =
      parts.length === 0
        ? property
        : parts.length === 1 && property === true
          ? parts[0]
          : { allOf: [property, ...parts] };
    const isNamed = names === undefined || accepts(names, name) === true;
    const value = isNamed ? possible(() => compile(whole, at(at(path, 'properties'), name))) : null;
    if (value !== null) return [{ pair: pairRule(writer, name, value), required: required.has(name) }];
    if (required.has(name))
      throw impossible(at(path, 'required'), `"${name}" is required, but cannot be valid`);
    return [];
  });
}

function undeclared({ schema, extra, path }: Declared, name: string): unknown {
  if (patternSchemas(schema, name).length > 0) return true;
  if (extra === false)
    throw impossible(at(path, 'required'), `"${name}" is required, but additionalProperties forbids it`);
  return extra ?? true;
}

function pairRule(writer: GbnfWriter, name: string, value: string): string {
  return `${writer.literal(JSON.stringify(name))} ${writer.colon()} ${value}`;
}

function limitsMembers(schema: Schema): boolean {
  return ['minProperties', 'maxProperties', 'patternProperties', 'propertyNames'].some(
    (keyword) => schema[keyword] !== undefined && schema[keyword] !== true,
  );
}

function remainingCounts(
  writer: GbnfWriter,
  schema: Schema,
  facts: { readonly path: SchemaPath; readonly properties: readonly Property[]; readonly isOpen: boolean },
): Counts {
  const { path, properties, isOpen } = facts;
  const required = properties.filter((property) => property.required).length;
  let min = readCount(schema, 'minProperties', path) ?? 0;
  let max = readCount(schema, 'maxProperties', path);
  if (max !== null && max < Math.max(min, required))
    throw impossible(path, 'maxProperties is less than what it must have');
  if (min <= required) min = 0;
  // Two further members may have the same name, and then are one.
  const certain = properties.length + (isOpen ? 1 : 0);
  if (min > certain) {
    if (!isOpen) throw impossible(path, 'it has too few properties for minProperties');
    writer.cannot(
      path,
      'minProperties',
      'only declared properties are counted for certain; list them in "required"',
    );
    min = certain;
  }
  if (max !== null && !isOpen && properties.length <= max) max = null;
  if (properties.length > MAX_COUNTED_PROPERTIES && (min > 0 || max !== null)) {
    writer.cannot(path, min > 0 ? 'minProperties' : 'maxProperties', 'it has too many properties to count');
    return { min: 0, max: null };
  }
  if (max !== null && isOpen && max > MAX_MEMBERS + properties.length) {
    writer.later(path, 'maxProperties');
    max = null;
  }
  return { min, max };
}

function members(
  writer: GbnfWriter,
  properties: readonly Property[],
  extraPair: string | null,
  counts: Counts,
): string {
  const top = Math.max(counts.max ?? 0, counts.min, 1);
  // rules[n]: continuation after n members; the last one also covers larger numbers if unlimited.
  let rules = Array.from({ length: top + 1 }, (_, before) => tail(writer, extraPair, counts, before));
  for (const { pair, required } of properties.toReversed()) {
    const after = rules;
    rules = after.map((without, before) => {
      const next = after[Math.min(before + 1, top)] ?? null;
      const isFull = counts.max !== null && before >= counts.max;
      const comma = before === 0 ? '' : `${writer.comma()} `;
      const taken = isFull || next === null ? null : `${comma}${pair} ${next}`;
      const options = required ? [taken] : [taken, without];
      const possibleOnes = options.filter((option) => option !== null);
      return possibleOnes.length === 0 ? null : writer.rule(possibleOnes.join(' | '));
    });
  }
  return rules[0] ?? '""';
}

function tail(writer: GbnfWriter, extraPair: string | null, counts: Counts, before: number): string | null {
  const missing = Math.max(0, counts.min - before);
  if (extraPair === null) return missing > 0 ? null : '""';
  const room = counts.max === null ? null : counts.max - before;
  if (room !== null && room <= 0) return missing > 0 ? null : '""';
  if (missing > 1) return null;
  const next = writer.rule(`${writer.comma()} ${extraPair}`);
  if (before > 0) {
    const many = room === null ? (missing > 0 ? '+' : '*') : `{${missing},${room}}`;
    return writer.rule(`${next}${many}`);
  }
  const more = `${next}${room === null ? '*' : `{0,${room - 1}}`}`;
  return writer.rule(missing > 0 ? `${extraPair} ${more}` : `(${extraPair} ${more})?`);
}
