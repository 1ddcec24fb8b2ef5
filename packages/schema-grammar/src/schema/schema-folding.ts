/**
 * Normalises schemas for the compiler: follows references, rewrites conditions and dependencies as alternatives, and
 * folds combined constraints into one schema.
 */
import { isAnnotation, isAssertion, isKnown } from './keywords.ts';
import { MAX_DEPTH, type SchemaBudget, tooLarge } from './schema-budget.ts';
import { ALSO, mergeSchemas } from './schema-merge.ts';
import { SchemaRefs } from './schema-refs.ts';
import { alternativesIn, modernised, negations } from './schema-rewrite.ts';
import {
  at,
  atEntry,
  impossible,
  isObject,
  madeHere,
  malformed,
  type Schema,
  type SchemaPath,
} from './schema-walk.ts';

/** Copying one member in a merge costs as much as reading a few characters. */
const COPY_STEPS = 8;

interface FoldingOptions {
  readonly budget: SchemaBudget;
  /** Throws for a keyword that cannot be enforced; returns if it may be omitted. */
  cannot(path: SchemaPath, keyword: string, reason: string): void;
}

export class SchemaFolding {
  readonly #budget: SchemaBudget;
  readonly #cannot: FoldingOptions['cannot'];
  readonly #refs: SchemaRefs;
  readonly #pairs = new Map<unknown, Map<unknown, unknown>>();
  readonly #folding = new Set<Schema>();

  constructor(root: unknown, { budget, cannot }: FoldingOptions) {
    this.#budget = budget;
    this.#cannot = cannot;
    this.#refs = new SchemaRefs(root);
  }

  /** Schemas of which one must hold; null if the negation cannot be expressed. */
  negations(schema: unknown, path: SchemaPath): unknown[] | null {
    return negations(schema, (part) => this.#followed(part, path, undefined));
  }

  /** Folds allOf into one schema; throws if two parts limit the same thing in different ways. */
  flattened(schema: Schema, path: SchemaPath): Schema {
    const { allOf, ...base } = schema;
    if (!Array.isArray(allOf) || allOf.length === 0)
      throw malformed(at(path, 'allOf'), 'it must be a list with at least one schema');
    if (this.#folding.has(schema)) throw malformed(path, 'its references are circular');
    if (this.#folding.size === MAX_DEPTH) throw tooLarge(path);
    this.#folding.add(schema);
    try {
      return allOf.reduce<Schema>(
        (sum, part, index) => this.merged(sum, part, 'allOf', atEntry(path, 'allOf', allOf, index)),
        base,
      );
    } finally {
      this.#folding.delete(schema);
    }
  }

  merged(base: Schema, part: unknown, keyword: string, path: SchemaPath): Schema {
    const resolved = this.resolved(part, path);
    if (resolved === true) return base;
    if (resolved === false) throw impossible(path, 'false allows no value at all');
    if (!isObject(resolved)) throw malformed(path, 'a schema is an object, true or false');
    const [budget, cannot] = [this.#budget, this.#cannot];
    budget.spend('nodes');
    budget.spend('steps', COPY_STEPS * (schemaBreadth(base) + schemaBreadth(resolved)));
    this.refuseUnknown(resolved, path);
    const plain = this.plain(resolved, path);
    if (plain['allOf'] !== undefined) return this.merged(base, this.flattened(plain, path), keyword, path);
    return mergeSchemas(base, this.#closed(plain, path), { keyword, path, budget, both: this.both, cannot });
  }

  /** A part cannot constrain unevaluated members for the schema around it. */
  #closed(part: Schema, path: SchemaPath): Schema {
    let closed = part;
    for (const [unevaluated, rest] of [
      ['unevaluatedProperties', 'additionalProperties'],
      ['unevaluatedItems', 'items'],
    ] as const) {
      const { [unevaluated]: limit, ...others } = closed;
      if (limit === undefined) continue;
      const branches = ['anyOf', 'oneOf', 'not', 'contains'].find((key) => others[key] !== undefined);
      if (branches !== undefined) this.#cannot(path, unevaluated, `it stands beside "${branches}" in a part`);
      else closed = { ...others, ...(others[rest] === undefined && { [rest]: limit }) };
    }
    return closed;
  }

  /** Both schemas at once; memoised per pair, so that recursion ends. */
  readonly both = (a: unknown, b: unknown): unknown => {
    if (a === true || a === b) return b;
    if (b === true) return a;
    if (a === false || b === false) return false;
    const known = this.#pairs.get(a) ?? new Map<unknown, unknown>();
    this.#pairs.set(a, known);
    const pair = known.get(b) ?? { allOf: madeHere([a, b]) };
    known.set(b, pair);
    return pair;
  };

  /** Target of a chain of pure references; an omitted one allows everything. */
  resolved(schema: unknown, path: SchemaPath): unknown {
    return this.#followed(schema, path, true);
  }

  #followed(schema: unknown, path: SchemaPath, nowhere: unknown): unknown {
    let current = schema;
    for (let hops = 0; isObject(current) && isPureReference(current); hops += 1) {
      if (hops > MAX_DEPTH) throw malformed(path, 'its references are circular');
      const target = this.#target(current, path);
      if (target === undefined) return nowhere;
      current = target;
    }
    return current;
  }

  plain(given: Schema, path: SchemaPath): Schema {
    let schema = modernised(given);
    const keyword = referenceIn(schema);
    if (keyword !== undefined) {
      const target = this.#target(schema, path);
      const { [keyword]: _, ...rest } = schema;
      schema = target === undefined ? rest : withParts(rest, [target]);
      if (referenceIn(schema) !== undefined) return this.plain(schema, path);
    }
    for (;;) {
      const found = alternativesIn(schema);
      if (found === null) break;
      schema = withParts(found.rest, found.parts);
    }
    const odd = ['dependentRequired', 'dependentSchemas'].find((key) => schema[key] !== undefined);
    if (odd === undefined) return schema;
    this.#cannot(path, odd, 'it names too many properties');
    const { [odd]: _, ...rest } = schema;
    return this.plain(rest, path);
  }

  #target(schema: Schema, path: SchemaPath): unknown {
    const keyword = referenceIn(schema) ?? '$ref';
    const reference = schema[keyword];
    if (typeof reference !== 'string') throw malformed(at(path, keyword), 'it must be a string');
    this.#budget.spend('steps', reference.length);
    const target =
      keyword === '$dynamicRef'
        ? this.#refs.dynamicTarget(schema, reference)
        : this.#refs.target(schema, reference);
    if (target !== undefined) return target;
    if (reference.startsWith('#/')) this.#cannot(path, keyword, `there is nothing at "${reference}"`);
    else this.#cannot(path, keyword, 'only references inside this schema are followed (#/$defs/…)');
    return undefined;
  }

  refuseUnknown(schema: Schema, path: SchemaPath): void {
    for (const key of Object.keys(schema)) {
      if (isKnown(key) || isAnnotation(key) || key === ALSO) continue;
      this.#cannot(path, key, 'it has no grammar; remove it');
    }
  }
}

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

export function referenceIn(schema: Schema): string | undefined {
  return REFERENCES.find((keyword) => schema[keyword] !== undefined);
}

export function isPureReference(schema: Schema): boolean {
  if (referenceIn(schema) === undefined) return false;
  return Object.keys(schema).every((key) => REFERENCES.includes(key) || isAnnotation(key));
}

function withParts(schema: Schema, parts: readonly unknown[]): Schema {
  const { allOf } = schema;
  if (!Array.isArray(allOf)) return { ...schema, allOf: madeHere([...parts]) };
  return { ...schema, allOf: madeHere([{ allOf }, ...parts]) };
}

export function schemaBreadth(schema: Schema): number {
  return Object.entries(schema).reduce((sum, [key, value]) => {
    if (!isAssertion(key) || typeof value !== 'object' || value === null) return sum + 1;
    return sum + 1 + (Array.isArray(value) ? value.length : Object.keys(value).length);
  }, 0);
}
