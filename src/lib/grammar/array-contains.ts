/**
 * `contains` as items that arrays know: the first are of its schema, as many as it wants, and with `maxContains` those behind
 * as many as it allows are not of it. Arrays in another order are valid as well, and are not written.
 */
import { at, countOf, impossible, type Schema, type SchemaPath } from './schema/schema-walk.ts';

/** More items than these are not counted one by one. */
const MOST_COUNTED = 100;

export interface ContainsTools {
  readonly both: (a: unknown, b: unknown) => unknown;
  /** Notes or throws that a keyword cannot be enforced. */
  readonly cannot: (path: SchemaPath, keyword: string, reason: string) => void;
}

/** The same array in the words of items, without `contains`. */
export function withoutContains(schema: Schema, path: SchemaPath, { both, cannot }: ContainsTools): Schema {
  const { contains, minContains: _min, maxContains: _max, ...rest } = schema;
  if (contains === undefined) return schema;
  if (rest['unevaluatedItems'] !== undefined) cannot(path, 'unevaluatedItems', 'it stands beside "contains"');
  const wanted = countOf(schema, 'minContains', path) ?? 1;
  const allowed = countOf(schema, 'maxContains', path);
  if (allowed !== null && allowed < wanted)
    throw impossible(at(path, 'maxContains'), 'it is less than minContains');
  if (wanted === 0 && allowed === null) return rest;
  const tuple = Array.isArray(rest['prefixItems']) ? (rest['prefixItems'] as readonly unknown[]) : [];
  const length = Math.max(wanted, allowed ?? 0, tuple.length);
  if (length > MOST_COUNTED) {
    cannot(path, wanted > MOST_COUNTED ? 'minContains' : 'maxContains', 'it is too large');
    return rest;
  }
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
    minItems: Math.max(wanted, countOf(schema, 'minItems', path) ?? 0),
  };
}
