/** Rewrites keywords as simpler ones: older drafts, conditions, dependencies, and `not`. */
import { isAnnotation, JSON_TYPES } from './keywords.ts';
import { ALSO } from './schema-merge.ts';
import { unspelled } from './schema-spellings.ts';
import { isObject, madeHere, type Schema } from './schema-walk.ts';

/** Chosen: each dependency doubles the number of alternatives. */
const MAX_DEPENDENCIES = 6;
/** Limit of written combinations of negated parts. */
const MAX_WAYS = 64;

export function modernised(schema: Schema): Schema {
  let modern = schema;
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof modern[exclusive] !== 'boolean') continue;
    const { [exclusive]: isExclusive, [bound]: limit, ...rest } = modern;
    modern = limit === undefined ? rest : { ...rest, [isExclusive === true ? exclusive : bound]: limit };
  }
  if (Array.isArray(modern['items']) && modern['prefixItems'] === undefined) {
    const { items, additionalItems, ...rest } = modern;
    modern = {
      ...rest,
      prefixItems: items,
      ...(additionalItems === undefined ? {} : { items: additionalItems }),
    };
  }
  if (!isObject(modern['dependencies'])) return modern;
  const { dependencies, ...rest } = modern;
  const entries = Object.entries(dependencies);
  const lists = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  return {
    ...rest,
    ...(lists.length > 0 && { dependentRequired: Object.fromEntries(lists) }),
    ...(schemas.length > 0 && { dependentSchemas: Object.fromEntries(schemas) }),
  };
}

/** `parts` must all hold; each is a choice. Null if there are none, or too many. */
export function alternativesIn(schema: Schema): { keyword: string; rest: Schema; parts: Schema[] } | null {
  if (schema['if'] !== undefined) {
    const { if: condition, then: yes = true, else: no = true, ...rest } = schema;
    const otherwise = madeHere([{ not: condition }, no]);
    const parts = [{ anyOf: madeHere([{ allOf: madeHere([condition, yes]) }, { allOf: otherwise }]) }];
    return { keyword: 'if', rest, parts };
  }
  for (const keyword of ['dependentRequired', 'dependentSchemas']) {
    const given = schema[keyword];
    if (!isObject(given)) continue;
    const { [keyword]: _, ...rest } = schema;
    const parts = Object.entries(given).map(([name, value]) => ({
      anyOf: madeHere([
        without(name),
        { allOf: madeHere([{ required: [name] }, Array.isArray(value) ? { required: value } : value]) },
      ]),
    }));
    return parts.length > MAX_DEPENDENCIES ? null : { keyword, rest, parts };
  }
  return null;
}

function without(name: string): Schema {
  return { properties: Object.fromEntries([[name, false]]) };
}

const OPPOSITES: Readonly<Record<string, readonly [type: string, keyword: string, step: number]>> = {
  minLength: ['string', 'maxLength', -1],
  maxLength: ['string', 'minLength', 1],
  minItems: ['array', 'maxItems', -1],
  maxItems: ['array', 'minItems', 1],
  minProperties: ['object', 'maxProperties', -1],
  maxProperties: ['object', 'minProperties', 1],
  minimum: ['number', 'exclusiveMaximum', 0],
  maximum: ['number', 'exclusiveMinimum', 0],
  exclusiveMinimum: ['number', 'maximum', 0],
  exclusiveMaximum: ['number', 'minimum', 0],
};

/**
 * Schemas of which one must hold; null if the negation cannot be expressed. `resolve` follows references and returns
 * undefined for a broken one.
 */
export function negations(
  schema: unknown,
  resolve: (schema: Schema) => unknown,
  depth = 0,
): unknown[] | null {
  if (schema === false) return [true];
  if (schema === true) return [];
  const target = isObject(schema) ? resolve(schema) : undefined;
  if (target === undefined) return null;
  if (target !== schema) return depth > 8 ? null : negations(target, resolve, depth + 1);
  if (!isObject(target) || depth > 8) return null;
  const results: unknown[] = [];
  const modern = modernised(target);
  const keys = Object.keys(modern).filter((key) => !isAnnotation(key) && modern[key] !== undefined);
  for (const key of keys) {
    const ways = keywordNegations(key, modern, resolve, depth + 1);
    if (ways === null) return null;
    results.push(...ways);
  }
  return results;
}

function keywordNegations(
  key: string,
  schema: Schema,
  resolve: (schema: Schema) => unknown,
  depth: number,
): unknown[] | null {
  const value = schema[key];
  const opposite = OPPOSITES[key];
  if (opposite !== undefined && typeof value === 'number') {
    const [type, keyword, step] = opposite;
    return value + step < 0 && step !== 0 ? [] : [{ type, [keyword]: value + step }];
  }
  switch (key) {
    case 'type':
      return typeNegation([value].flat());
    case 'const':
    case 'enum':
      return [{ [ALSO]: [{ not: unspelled(key === 'const' ? [value] : value) }] }];
    case 'pattern':
      return [{ type: 'string', [ALSO]: [{ pattern: value, negated: true }] }];
    case 'not':
      return [value];
    case 'required':
      return Array.isArray(value)
        ? value.map((name) => ({ type: 'object', ...without(String(name)) }))
        : null;
    case 'properties':
      return isObject(value)
        ? Object.entries(value).map(([name, property]) => ({
            type: 'object',
            properties: Object.fromEntries([[name, { not: property }]]),
            required: [name],
          }))
        : null;
    case 'anyOf':
      return Array.isArray(value) ? combined(value.map((branch) => negations(branch, resolve, depth))) : null;
    case 'allOf': {
      if (!Array.isArray(value)) return null;
      const parts = value.map((part) => negations(part, resolve, depth));
      return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
    }
    default:
      return null;
  }
}

function combined(lists: readonly (readonly unknown[] | null)[]): unknown[] | null {
  let ways: unknown[] = [true];
  for (const list of lists) {
    if (list === null || ways.length * list.length > MAX_WAYS) return null;
    ways = ways.flatMap((way) =>
      list.map((next) => (way === true ? next : { allOf: madeHere([way, next]) })),
    );
  }
  return ways;
}

function typeNegation(types: readonly unknown[]): unknown[] | null {
  if (types.includes('integer') && !types.includes('number')) {
    const others = JSON_TYPES.filter((type) => !types.includes(type) && type !== 'number');
    return [
      ...(others.length > 0 ? [{ type: others }] : []),
      { type: 'number', [ALSO]: [{ fraction: true }] },
    ];
  }
  const left = JSON_TYPES.filter(
    (type) =>
      !types.includes(type) && !(type === 'integer') && !(type === 'number' && types.includes('number')),
  );
  return left.length === 0 ? [] : [{ type: left }];
}
