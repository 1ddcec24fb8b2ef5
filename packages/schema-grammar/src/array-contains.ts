/**
 * `contains`: items of its schema, as many as it wants, between any others. Beside a tuple or a length they come first, and
 * with `maxContains` those behind as many as it allows are not of it: arrays in another order are valid as well, and are not
 * written.
 */
import type { GbnfWriter } from './gbnf/gbnf-writer.ts';
import {
  at,
  type Compile,
  readCount,
  impossible,
  possible,
  type Schema,
  type SchemaPath,
} from './schema/schema-walk.ts';

/** More items of its schema than these are not counted in any order. */
const MOST_ANYWHERE = 20;

/** More items than these are not counted one by one. */
const MOST_COUNTED = 100;

/** The array with the wanted items at any place; null: what stands beside `contains` counts items too. */
export function containingRule(
  writer: GbnfWriter,
  schema: Schema,
  path: SchemaPath,
  { compile, both }: { readonly compile: Compile; readonly both: (a: unknown, b: unknown) => unknown },
): string | null {
  const { contains, items = true } = schema;
  if (contains === undefined) return null;
  if (['prefixItems', 'maxItems', 'unevaluatedItems'].some((key) => schema[key] !== undefined)) return null;
  const wanted = readCount(schema, 'minContains', path) ?? 1;
  const allowed = readCount(schema, 'maxContains', path);
  const top = Math.max(wanted, allowed ?? 0);
  if (top > MOST_ANYWHERE || (readCount(schema, 'minItems', path) ?? 0) > wanted) return null;
  if (allowed !== null && allowed < wanted) return null;
  if (schema['uniqueItems'] === true) writer.later(path, 'uniqueItems');
  const itemPath = at(path, 'contains');
  const of = possible(() => compile(both(items, contains), itemPath));
  const other = possible(() =>
    compile(allowed === null ? items : both(items, { not: contains }), at(path, 'items')),
  );
  if (of === null && wanted > 0) throw impossible(itemPath, 'no item can be of it');
  const names = Array.from({ length: top + 1 }, () => writer.reserve());
  const from = (count: number, before: string): string[] => [
    ...(count < top && of !== null ? [`${before}${of} ${names[count + 1]}`] : []),
    ...(other === null ? [] : [`${before}${other} ${names[count]}`]),
    ...(count >= wanted ? ['""'] : []),
  ];
  for (const [count, name] of names.entries())
    writer.define(name, from(count, `${writer.comma()} `).join(' | '));
  const list = writer.rule(from(0, '').join(' | '));
  return writer.rule(`${writer.literal('[')} ${list} ${writer.literal(']')}`);
}

interface ContainsTools {
  readonly both: (a: unknown, b: unknown) => unknown;
  /** Notes or throws that a keyword cannot be enforced. */
  readonly cannot: (path: SchemaPath, keyword: string, reason: string) => void;
  /** Notes that some arrays are not written. */
  readonly narrowed: (path: SchemaPath, keyword: string) => void;
}

/** The same array in the words of items, without `contains`. */
export function withoutContains(
  schema: Schema,
  path: SchemaPath,
  { both, cannot, narrowed }: ContainsTools,
): Schema {
  const { contains, minContains: _min, maxContains: _max, ...rest } = schema;
  if (contains === undefined) return schema;
  if (rest['unevaluatedItems'] !== undefined) cannot(path, 'unevaluatedItems', 'it stands beside "contains"');
  const wanted = readCount(schema, 'minContains', path) ?? 1;
  const allowed = readCount(schema, 'maxContains', path);
  if (allowed !== null && allowed < wanted)
    throw impossible(at(path, 'maxContains'), 'it is less than minContains');
  if (wanted === 0 && allowed === null) return rest;
  const tuple = Array.isArray(rest['prefixItems']) ? (rest['prefixItems'] as readonly unknown[]) : [];
  const length = Math.max(wanted, allowed ?? 0, tuple.length);
  if (length > MOST_COUNTED) {
    cannot(path, wanted > MOST_COUNTED ? 'minContains' : 'maxContains', 'it is too large');
    return rest;
  }
  narrowed(path, 'contains');
  const others = rest['unevaluatedItems'] === undefined ? (rest['items'] ?? true) : true;
  const last = allowed ?? Number.POSITIVE_INFINITY;
  const none = { not: contains };
  const prefixItems = Array.from({ length }, (_, index) => {
    const item = index < tuple.length ? tuple[index] : others;
    if (index < wanted) return both(item, contains);
    return index < last ? item : both(item, none);
  });
  const items = rest['items'] ?? rest['unevaluatedItems'] ?? true;
  return {
    ...rest,
    prefixItems,
    items: allowed === null ? items : both(items, none),
    minItems: Math.max(wanted, readCount(schema, 'minItems', path) ?? 0),
  };
}
