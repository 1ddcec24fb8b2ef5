/** Merges two schemas that must both hold, for `allOf` and for keywords next to `anyOf`. */
import type { SchemaBudget } from './schema-budget.ts';
import { at, isObject, type Schema, type SchemaPath, unenforceable } from './schema-walk.ts';

const LARGER: ReadonlySet<string> = new Set([
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
]);
const SMALLER: ReadonlySet<string> = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
]);
const FREE: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$comment',
  '$defs',
  'definitions',
  'deprecated',
  '$schema',
]);

/** The location of a merge, and what it may still cost. */
export interface FoldContext {
  /** The keyword that asks for the fold. */
  readonly keyword: string;
  readonly path: SchemaPath;
  readonly budget: SchemaBudget;
}

export function mergeSchemas(base: Schema, part: Schema, context: FoldContext): Schema {
  const { keyword, path, budget } = context;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(part)) {
    const before = merged[key];
    if (before === undefined) merged[key] = value;
    else if (FREE.has(key) || key === 'nullable') continue;
    else if (key === 'properties' && isObject(before) && isObject(value))
      merged[key] = disjointProperties(before, value, context);
    else if (isSame(before, value, budget)) continue;
    else if (LARGER.has(key)) merged[key] = Math.max(Number(before), Number(value));
    else if (SMALLER.has(key)) merged[key] = Math.min(Number(before), Number(value));
    else if (key === 'required' && Array.isArray(before) && Array.isArray(value))
      merged[key] = [...new Set([...before, ...value])];
    else if (key === 'type') merged[key] = commonTypes(before, value, context);
    else throw unenforceable(path, key, `it conflicts with another part of "${keyword}"`);
  }
  if ('nullable' in merged) merged['nullable'] = allowsNull(base) && allowsNull(part);
  refuseForeignProperties(base, part, path);
  return merged;
}

/** Whether null is certain to fit; the other keywords say nothing of it. */
function allowsNull(schema: Schema): boolean {
  const limits = ['type', 'enum', 'const', 'anyOf', 'oneOf'];
  return schema['nullable'] === true || limits.every((keyword) => schema[keyword] === undefined);
}

function isSame(a: unknown, b: unknown, budget: SchemaBudget): boolean {
  return a === b || budget.textOf(a) === budget.textOf(b);
}

function commonTypes(a: unknown, b: unknown, { keyword, path, budget }: FoldContext): string[] {
  const [left, right] = [[a].flat(), [b].flat()];
  budget.spend('steps', left.length * right.length);
  const common = left.filter((type) => right.includes(type)).map(String);
  if (left.includes('number') && right.includes('integer')) common.push('integer');
  if (left.includes('integer') && right.includes('number')) common.push('integer');
  if (common.length === 0) throw unenforceable(path, 'type', `no type satisfies every part of "${keyword}"`);
  return [...new Set(common)];
}

function disjointProperties(a: Schema, b: Schema, { path, budget }: FoldContext): Schema {
  for (const name of Object.keys(b)) {
    if (Object.hasOwn(a, name) && !isSame(a[name], b[name], budget))
      throw unenforceable(at(path, 'properties'), name, 'another part declares it differently');
  }
  return { ...a, ...b };
}

/** `additionalProperties` sees only the properties of its own schema, so a part with it must know all of them. */
function refuseForeignProperties(base: Schema, part: Schema, path: SchemaPath): void {
  for (const [closed, other] of [
    [base, part],
    [part, base],
  ] as const) {
    if (closed['additionalProperties'] === undefined || closed['additionalProperties'] === true) continue;
    const known = isObject(closed['properties']) ? closed['properties'] : {};
    const foreign = Object.keys(isObject(other['properties']) ? other['properties'] : {}).filter(
      (name) => !Object.hasOwn(known, name),
    );
    if (foreign.length > 0) {
      throw unenforceable(
        path,
        'additionalProperties',
        `it also applies to "${foreign[0]}", which another part declares`,
      );
    }
  }
}
