/**
 * `oneOf` asks that exactly one branch holds. A grammar alone only ensures "at least one", so the branches must be
 * visibly disjoint: different JSON types, different constants, or objects told apart by a constant property.
 */
import { isObject, namesOf, type Schema, type SchemaPath, unenforceable } from './schema-walk.ts';

export function requireDisjoint(branches: readonly unknown[], path: SchemaPath): void {
  for (const [index, branch] of branches.entries())
    for (const other of branches.slice(index + 1))
      if (!areDisjoint(branch, other, path))
        throw unenforceable(
          path,
          'oneOf',
          'its branches could hold together; give each a constant property, or use anyOf',
        );
}

function areDisjoint(a: unknown, b: unknown, path: SchemaPath): boolean {
  if (!isObject(a) || !isObject(b)) return false;
  const [kindsA, kindsB] = [kindsOf(a), kindsOf(b)];
  if (kindsA !== null && kindsB !== null && !kindsA.some((kind) => kindsB.includes(kind))) return true;
  const [valuesA, valuesB] = [valuesOf(a), valuesOf(b)];
  if (valuesA !== null && valuesB !== null) return !valuesA.some((value) => valuesB.includes(value));
  return haveDiscriminator(a, b, path);
}

function haveDiscriminator(a: Schema, b: Schema, path: SchemaPath): boolean {
  const [left, right] = [a['properties'], b['properties']];
  if (a['type'] !== 'object' || b['type'] !== 'object' || !isObject(left) || !isObject(right)) return false;
  const required = namesOf(b, 'required', path);
  return namesOf(a, 'required', path).some((name) => {
    const [propertyA, propertyB] = [left[name], right[name]];
    if (!required.includes(name) || !isObject(propertyA) || !isObject(propertyB)) return false;
    const [valuesA, valuesB] = [valuesOf(propertyA), valuesOf(propertyB)];
    return valuesA !== null && valuesB !== null && !valuesA.some((value) => valuesB.includes(value));
  });
}

/** JSON kinds that the schema allows; integers count as numbers. Null: not visible at a glance. */
function kindsOf(schema: Schema): string[] | null {
  const { type } = schema;
  if (type !== undefined) return [type].flat().map((name) => (name === 'integer' ? 'number' : String(name)));
  const values = valuesOf(schema);
  return values === null ? null : values.map((text) => kindOf(JSON.parse(text)));
}

function valuesOf(schema: Schema): string[] | null {
  if ('const' in schema) return [JSON.stringify(schema['const'])];
  const values = schema['enum'];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : null;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
