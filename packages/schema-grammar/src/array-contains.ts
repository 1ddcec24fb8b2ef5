/**
 * `contains`: the required number of matching items between any others. Next to a tuple or a length limit they come
 * first, and with `maxContains` no item after the allowed ones matches: other valid orders are not written.
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

/** More required items are not counted in every order. */
const MOST_ANYWHERE = 20;

/** More items are not counted one by one. */
const MOST_COUNTED = 100;

/** Required items at any place; null if another keyword counts items too. */
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
  readonly cannot: (path: SchemaPath, keyword: string, reason: string) => void;
  readonly narrowed: (path: SchemaPath, keyword: string) => void;
}

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
