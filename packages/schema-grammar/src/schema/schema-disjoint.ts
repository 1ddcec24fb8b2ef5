/**
 * `oneOf` requires that exactly one branch applies. A grammar alone ensures only "at least one", so branches must be
 * visibly disjoint: different JSON types, different constants, or objects with different constant properties.
 */
import { SpelledNumber } from '../../../exact-json/src/spelled-numbers.ts';
import type { SchemaBudget } from './schema-budget.ts';
import { isObject, readNames, type Schema, type SchemaPath } from './schema-walk.ts';

interface Branch {
  /** Allowed JSON types; integers count as numbers. */
  readonly kinds: ReadonlySet<string> | null;
  readonly values: ReadonlySet<string> | null;
  readonly tags: ReadonlyMap<string, ReadonlySet<string>>;
}

export function areDisjointBranches(
  branches: readonly unknown[],
  path: SchemaPath,
  budget: SchemaBudget,
): boolean {
  const facts = branches.map((branch) => readBranch(branch, path, budget));
  const constants = facts.flatMap(({ values }) => (values === null ? [] : [...values]));
  const open = facts.filter(({ values }) => values === null);
  const others = [...open, ...facts.filter(({ values }) => values !== null)];
  return (
    new Set(constants).size === constants.length &&
    open.every((branch, index) =>
      others.slice(index + 1).every((other) => areDisjoint(branch, other, budget)),
    )
  );
}

function areDisjoint(a: Branch, b: Branch, budget: SchemaBudget): boolean {
  if (a.kinds !== null && b.kinds !== null && areApart(a.kinds, b.kinds, budget)) return true;
  budget.spend('steps', a.tags.size);
  for (const [name, values] of a.tags) {
    const others = b.tags.get(name);
    if (others !== undefined && areApart(values, others, budget)) return true;
  }
  return false;
}

function areApart(a: ReadonlySet<string>, b: ReadonlySet<string>, budget: SchemaBudget): boolean {
  budget.spend('steps', 1 + a.size);
  for (const value of a) if (b.has(value)) return false;
  return true;
}

function readBranch(schema: unknown, path: SchemaPath, budget: SchemaBudget): Branch {
  if (!isObject(schema)) return { kinds: null, values: null, tags: new Map() };
  const values = listedValues(schema);
  return {
    kinds: valueKinds(schema, values),
    values: valueTexts(values, budget),
    tags: readTags(schema, path, budget),
  };
}

function readTags(schema: Schema, path: SchemaPath, budget: SchemaBudget): Branch['tags'] {
  const { type, properties } = schema;
  const tags = new Map<string, ReadonlySet<string>>();
  if (type !== 'object' || !isObject(properties)) return tags;
  for (const name of new Set(readNames(schema, 'required', path))) {
    const property = properties[name];
    const texts = isObject(property) ? valueTexts(listedValues(property), budget) : null;
    if (texts !== null) tags.set(name, texts);
  }
  return tags;
}

function valueKinds({ type }: Schema, values: readonly unknown[] | null): ReadonlySet<string> | null {
  if (type !== undefined)
    return new Set([type].flat().map((name) => (name === 'integer' ? 'number' : String(name))));
  return values === null ? null : new Set(values.map(valueKind));
}

function listedValues(schema: Schema): readonly unknown[] | null {
  if ('const' in schema) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : null;
}

function valueTexts(values: readonly unknown[] | null, budget: SchemaBudget): ReadonlySet<string> | null {
  return values === null ? null : new Set(values.map((value) => budget.jsonText(value)));
}

function valueKind(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof SpelledNumber) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}
