/**
 * chat-templates/tool-format/values owns values as models write them, and converts them to JSON. It knows nothing of
 * templates. This file: JSON types that a schema admits, because text between tags does not show whether it is a
 * string.
 */
import { SpelledNumber } from '../../../../exact-json/src/spelled-numbers.ts';
import type { JsonType } from '../tool-format.ts';

type Schema = Readonly<Record<string, unknown>>;

const MAX_HOPS = 32;

/** Null: any. An integer counts as a number. */
export function admittedTypes(schema: unknown, root: unknown, hops = 0): ReadonlySet<JsonType> | null {
  if (!isSchema(schema) || hops > MAX_HOPS) return null;
  const { $ref, type } = schema;
  if (typeof $ref === 'string')
    return admittedTypes(resolvePointer($ref, root) ?? resolvePointer($ref, schema), root, hops + 1);
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : null;
  const nullable: JsonType[] = schema['nullable'] === true ? ['null'] : [];
  if (types !== null) {
    const names = types.map(jsonType).filter((name) => name !== null);
    return names.length === types.length ? new Set([...names, ...nullable]) : null;
  }
  if ('const' in schema) return new Set([valueType(schema['const']), ...nullable]);
  if (Array.isArray(schema['enum'])) return new Set([...schema['enum'].map(valueType), ...nullable]);
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = schema[keyword];
    if (!Array.isArray(branches)) continue;
    const sets = branches.map((branch) => admittedTypes(branch, root, hops + 1));
    if (keyword === 'allOf') return sets.find((set) => set !== null) ?? null;
    if (sets.includes(null)) return null;
    return new Set([...sets.flatMap((set) => [...(set ?? [])]), ...nullable]);
  }
  if (schema['properties'] !== undefined) return new Set(['object']);
  return schema['items'] === undefined ? null : new Set(['array']);
}

export function resolvePointer(pointer: string, root: unknown): unknown {
  if (!pointer.startsWith('#')) return undefined;
  const steps = pointer.slice(1).split('/').slice(1);
  return steps.reduce<unknown>((at, step) => {
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }, root);
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

export function valueType(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof SpelledNumber) return 'number';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

function jsonType(name: unknown): JsonType | null {
  if (name === 'integer') return 'number';
  const known: readonly unknown[] = ['string', 'number', 'boolean', 'null', 'array', 'object'];
  return known.includes(name) ? (name as JsonType) : null;
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
