/** Merges two schemas that must both hold, for `allOf` and for keywords next to `anyOf`. */
import { linearMatcher } from '../pattern/pattern-match.ts';
import { JSON_TYPES } from './keywords.ts';
import type { SchemaBudget } from './schema-budget.ts';
import { impossible, isObject, type Schema, type SchemaPath } from './schema-walk.ts';

const LARGER: ReadonlySet<string> = new Set([
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
  'minContains',
]);
const SMALLER: ReadonlySet<string> = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
  'maxContains',
]);
const FREE: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'example',
  'examples',
  '$comment',
  '$defs',
  'definitions',
  'deprecated',
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$dynamicAnchor',
]);
const SCHEMAS: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
]);
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Limit of branch pairs when two lists are combined. */
const MAX_PAIRS = 64;
/** Internal keyword for further constraints on strings: patterns, and excluded values. */
export const ALSO = '\0also';

export type Also =
  | { readonly pattern: string; readonly negated: boolean }
  | { readonly format: string }
  | { readonly fraction: true }
  | { readonly not: readonly unknown[] };

interface FoldContext {
  readonly keyword: string;
  readonly path: SchemaPath;
  readonly budget: SchemaBudget;
  readonly both: (a: unknown, b: unknown) => unknown;
  readonly cannot: (path: SchemaPath, keyword: string, reason: string) => void;
}

export function mergeSchemas(base: Schema, part: Schema, context: FoldContext): Schema {
  const merged = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(part)) {
    const before = merged.get(key);
    if (before === undefined) merged.set(key, value);
    else if (FREE.has(key) || key === 'nullable' || isSame(before, value, context.budget)) continue;
    else mergeKeyword(merged, key, value, context);
  }
  mergeTuples(merged, base, part, context.both);
  mergeValues(merged, context);
  if (merged.has('nullable')) merged.set('nullable', allowsNull(base) && allowsNull(part));
  closeForeign(merged, base, part, context);
  closeForeign(merged, part, base, context);
  return Object.fromEntries(merged);
}

function mergeKeyword(merged: Map<string, unknown>, key: string, value: unknown, context: FoldContext): void {
  const before = merged.get(key);
  const { both, path } = context;
  if (SCHEMAS.has(key)) merged.set(key, both(before, value));
  else if (NAMED_SCHEMAS.has(key) && isObject(before) && isObject(value))
    merged.set(key, mergedNames(before, value, both));
  else if (LARGER.has(key)) merged.set(key, Math.max(Number(before), Number(value)));
  else if (SMALLER.has(key)) merged.set(key, Math.min(Number(before), Number(value)));
  else if ((key === 'required' || key === ALSO) && Array.isArray(before) && Array.isArray(value))
    merged.set(key, [...new Set([...before, ...value])]);
  else if (key === 'type') merged.set(key, commonTypes(before, value, context));
  else if (key === 'enum' && Array.isArray(before) && Array.isArray(value))
    merged.set(key, commonValues(before, value, context));
  else if (key === 'const') throw impossible(path, 'its parts ask for different constants');
  else if (key === 'pattern' && typeof value === 'string')
    merged.set(ALSO, [...readAlso(merged), { pattern: value, negated: false }]);
  else if (key === 'format' && typeof value === 'string')
    merged.set(ALSO, [...readAlso(merged), { format: value }]);
  else if (key === 'not') merged.set(key, { anyOf: [before, value] });
  else if (key === 'multipleOf' && Number.isInteger(before) && Number.isInteger(value))
    merged.set(key, (Number(before) / greatestDivisor(Number(before), Number(value))) * Number(value));
  else if ((key === 'anyOf' || key === 'oneOf') && Array.isArray(before) && Array.isArray(value))
    mergeBranches(merged, key, value, context);
  else if (key === 'prefixItems') return;
  else context.cannot(path, key, `it conflicts with another part of "${context.keyword}"`);
}

/** Every pair of branches, which keeps disjoint ones disjoint. */
function mergeBranches(
  merged: Map<string, unknown>,
  key: 'anyOf' | 'oneOf',
  branches: readonly unknown[],
  { path, both, cannot }: FoldContext,
): void {
  const before = merged.get(key) as readonly unknown[];
  if (before.length * branches.length > MAX_PAIRS) return cannot(path, key, 'its branches are too many');
  merged.set(
    key,
    before.flatMap((a) => branches.map((b) => both(a, b))),
  );
}

function mergeTuples(
  merged: Map<string, unknown>,
  base: Schema,
  part: Schema,
  both: FoldContext['both'],
): void {
  const [left, right] = [readTuple(base), readTuple(part)];
  if (left.length === 0 && right.length === 0) return;
  const rest = { left: base['items'] ?? true, right: part['items'] ?? true };
  const length = Math.max(left.length, right.length);
  const items = Array.from({ length }, (_, index) =>
    both(left[index] ?? rest.left, right[index] ?? rest.right),
  );
  merged.set('prefixItems', items);
  if (base['items'] !== undefined || part['items'] !== undefined)
    merged.set('items', both(rest.left, rest.right));
}

function readTuple({ prefixItems }: Schema): readonly unknown[] {
  return Array.isArray(prefixItems) ? prefixItems : [];
}

function mergeValues(merged: Map<string, unknown>, { path, budget }: FoldContext): void {
  const values = merged.get('enum');
  if (!merged.has('const') || !Array.isArray(values)) return;
  if (!values.some((value) => isSame(value, merged.get('const'), budget)))
    throw impossible(path, 'its constant is not among its values');
  merged.delete('enum');
}

function readAlso(merged: ReadonlyMap<string, unknown>): readonly Also[] {
  return (merged.get(ALSO) as readonly Also[] | undefined) ?? [];
}

/** Whether null is certain to be valid; the other keywords do not apply to null. */
function allowsNull(schema: Schema): boolean {
  const limits = ['type', 'enum', 'const', 'anyOf', 'oneOf'];
  return schema['nullable'] === true || limits.every((keyword) => schema[keyword] === undefined);
}

function isSame(a: unknown, b: unknown, budget: SchemaBudget): boolean {
  return a === b || budget.jsonText(a) === budget.jsonText(b);
}

function commonTypes(a: unknown, b: unknown, { path, budget }: FoldContext): string[] {
  const [left, right] = [[a].flat(), [b].flat()];
  budget.spend('steps', left.length * right.length);
  const common = left.filter((type) => right.includes(type)).map(String);
  if (left.includes('number') && right.includes('integer')) common.push('integer');
  if (left.includes('integer') && right.includes('number')) common.push('integer');
  if (common.length > 0) return [...new Set(common)];
  const known: readonly unknown[] = JSON_TYPES;
  const [odd] = [...left, ...right].filter((type) => !known.includes(type));
  if (odd !== undefined) return [String(odd)];
  throw impossible(path, 'no type satisfies all of its parts');
}

function commonValues(
  a: readonly unknown[],
  b: readonly unknown[],
  { path, budget }: FoldContext,
): unknown[] {
  const texts = new Set(b.map((value) => budget.jsonText(value)));
  const common = a.filter((value) => texts.has(budget.jsonText(value)));
  if (common.length === 0) throw impossible(path, 'its parts allow different values');
  return common;
}

function mergedNames(a: Schema, b: Schema, both: FoldContext['both']): Schema {
  const merged = new Map(Object.entries(a));
  for (const [name, schema] of Object.entries(b))
    merged.set(name, merged.has(name) ? both(merged.get(name), schema) : schema);
  return Object.fromEntries(merged);
}

/** `additionalProperties` of one schema applies to properties that only the other declares. */
function closeForeign(
  merged: Map<string, unknown>,
  closed: Schema,
  other: Schema,
  context: FoldContext,
): void {
  const rest = closed['additionalProperties'];
  if (rest === undefined || rest === true) return;
  const foreign = namesIn(other).filter((name) => !isDeclared(closed, name));
  if (foreign.length === 0) return;
  const properties = new Map(Object.entries((merged.get('properties') ?? {}) as Schema));
  for (const name of foreign)
    properties.set(name, rest === false ? false : context.both(properties.get(name) ?? true, rest));
  merged.set('properties', Object.fromEntries(properties));
}

function namesIn({ properties, required }: Schema): string[] {
  const declared = isObject(properties) ? Object.keys(properties) : [];
  return [...new Set([...declared, ...(Array.isArray(required) ? required.map(String) : [])])];
}

function isDeclared({ properties, patternProperties }: Schema, name: string): boolean {
  if (isObject(properties) && Object.hasOwn(properties, name)) return true;
  return (
    isObject(patternProperties) &&
    Object.keys(patternProperties).some((source) => linearMatcher(source).test(name))
  );
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

export function alsoIn(schema: Schema): readonly Also[] {
  const also = schema[ALSO];
  return Array.isArray(also) ? (also as readonly Also[]) : [];
}

export function isFraction(schema: Schema): boolean {
  return alsoIn(schema).some((item) => 'fraction' in item);
}

export function notValues(schema: Schema): readonly unknown[] {
  return alsoIn(schema).flatMap((item) => ('not' in item ? item.not : []));
}
