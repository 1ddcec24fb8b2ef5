/**
 * lib/grammar owns the compiler from JSON Schema to GBNF, the grammar notation of llama.cpp. Every keyword is enforced,
 * known to be an annotation, or refused by name. It knows no model, no wire shape and no process: the server compiles a
 * schema to learn whether it can be enforced, the worker compiles the same one to constrain the sampler.
 * Invariant: every text that a compiled grammar accepts is valid JSON for the schema; the reverse need not hold.
 * This file: one schema node to one rule.
 */
import { arrayRule } from './array-grammar.ts';
import { checkGbnf } from './gbnf/gbnf-check.ts';
import { GbnfWriter, MAX_COUNTED, type WriterOptions } from './gbnf/gbnf-writer.ts';
import { anyValue, booleans, nullRule } from './json-grammar.ts';
import { integerRule, numberRule } from './number-grammar.ts';
import { objectRule } from './object-grammar.ts';
import { tooLarge } from './schema-budget.ts';
import { mergeSchemas } from './schema-merge.ts';
import {
  at,
  countOf,
  isObject,
  malformed,
  pointerSteps,
  pointerTarget,
  type Schema,
  type SchemaPath,
  unenforceable,
} from './schema-walk.ts';
import { requireDisjoint } from './schema-disjoint.ts';
import { FORMAT_PATTERNS, stringMatching, stringOf, stringOfFormat } from './string-grammar.ts';

const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$comment',
  '$schema',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
  '$defs',
  'definitions',
  'discriminator',
]);
const KEYWORDS_OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  boolean: [],
  null: [],
};
const APPLICATORS: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'const',
  '$ref',
  'anyOf',
  'oneOf',
  'allOf',
  'nullable',
]);
const ENFORCED: ReadonlySet<string> = new Set([...APPLICATORS, ...Object.values(KEYWORDS_OF_TYPE).flat()]);
const MAX_DEPTH = 48;
/** Copying one member in a merge costs as much as reading a few characters. */
const COPY_STEPS = 8;

/** A schema inside a larger grammar: returns the name of its rule. Refuses what cannot be enforced. */
export function schemaRule(writer: GbnfWriter, schema: unknown, path: SchemaPath): string {
  try {
    return new SchemaCompiler(writer, schema, path).compile(schema, path);
  } catch (error) {
    throw writer.budget.isSpent ? tooLarge(path) : error;
  }
}

/** A grammar whose texts are exactly one JSON value of the schema. */
export function compileSchema(schema: unknown, path: SchemaPath, options: WriterOptions = {}): string {
  const writer = new GbnfWriter(options);
  const gbnf = writer.toGbnf(schemaRule(writer, schema, path));
  // The client knows its schema, not the rules that were made of it.
  checkGbnf(gbnf, (reason) => malformed(path, reason));
  return gbnf;
}

class SchemaCompiler {
  readonly #writer: GbnfWriter;
  readonly #root: unknown;
  readonly #rootPath: SchemaPath;
  readonly #refs = new Map<string, string>();
  readonly #targets = new Map<string, unknown>();
  /** Schemas whose `allOf` is being folded. */
  readonly #folding = new Set<Schema>();
  #depth = 0;

  constructor(writer: GbnfWriter, root: unknown, rootPath: SchemaPath) {
    this.#writer = writer;
    this.#root = root;
    this.#rootPath = rootPath;
  }

  readonly compile = (schema: unknown, path: SchemaPath): string => {
    this.#writer.budget.spend('nodes');
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw tooLarge(path);
    const rule = this.#node(schema, path);
    this.#depth -= 1;
    return rule;
  };

  #node(schema: unknown, path: SchemaPath): string {
    if (schema === true) return anyValue(this.#writer);
    if (schema === false) throw malformed(path, 'false allows no value at all');
    if (!isObject(schema)) throw malformed(path, 'a schema is an object or true');
    this.#writer.budget.spend('steps', breadthOf(schema));
    refuseUnknown(schema, path);
    if (schema['nullable'] === true) return this.#nullable(schema, path);
    if (schema['$ref'] !== undefined) return this.#reference(schema, path);
    if (schema['allOf'] !== undefined) return this.#node(this.#flattened(schema, path), path);
    if (schema['anyOf'] !== undefined) return this.#union(schema, 'anyOf', path);
    if (schema['oneOf'] !== undefined) return this.#union(schema, 'oneOf', path);
    if ('const' in schema || schema['enum'] !== undefined) return this.#values(schema, path);
    const types = typesOf(schema, path);
    if (types.length === 0) return anyValue(this.#writer);
    return this.#writer.rule(types.map((type) => this.#typed(type, schema, path)).join(' | '));
  }

  #typed(type: string, schema: Schema, path: SchemaPath): string {
    switch (type) {
      case 'object':
        return objectRule(this.#writer, schema, path, this.compile);
      case 'array':
        return arrayRule(this.#writer, schema, path, this.compile);
      case 'string':
        return this.#string(schema, path);
      case 'integer':
        return integerRule(this.#writer, schema, path);
      case 'number':
        return numberRule(this.#writer, schema, path);
      case 'boolean':
        return booleans(this.#writer);
      case 'null':
        return nullRule(this.#writer);
      default:
        throw malformed(at(path, 'type'), `"${type}" is not a JSON type`);
    }
  }

  #string(schema: Schema, path: SchemaPath): string {
    const { pattern, format } = schema;
    const min = countOf(schema, 'minLength', path);
    const max = countOf(schema, 'maxLength', path);
    const keyword = pattern === undefined ? 'format' : 'pattern';
    if (min !== null && max !== null && max < min) throw malformed(path, 'maxLength is less than minLength');
    if (pattern === undefined && format === undefined) {
      if (min !== null && min > MAX_COUNTED)
        throw unenforceable(path, 'minLength', `lengths above ${MAX_COUNTED} cannot be counted`);
      return stringOf(this.#writer, min ?? 0, max);
    }
    if (min !== null || max !== null) {
      throw unenforceable(
        path,
        min === null ? 'maxLength' : 'minLength',
        `it cannot be combined with "${keyword}"; put the length into the pattern`,
      );
    }
    // Next to a pattern, format is the annotation that JSON Schema makes it: the pattern is the constraint.
    const refuse = (reason: string): Error => unenforceable(path, keyword, reason);
    if (typeof pattern === 'string') return stringMatching(this.#writer, pattern, refuse);
    if (pattern !== undefined) throw malformed(at(path, 'pattern'), 'it must be a string');
    const rule = typeof format === 'string' ? stringOfFormat(this.#writer, format, refuse) : null;
    if (rule !== null) return rule;
    throw unenforceable(
      path,
      'format',
      `only ${Object.keys(FORMAT_PATTERNS).join(', ')} are known; use "pattern"`,
    );
  }

  #nullable(schema: Schema, path: SchemaPath): string {
    const { nullable: _, ...rest } = schema;
    return this.#writer.rule(`${this.#node(rest, path)} | ${nullRule(this.#writer)}`);
  }

  #values(schema: Schema, path: SchemaPath): string {
    const keyword = 'const' in schema ? 'const' : 'enum';
    refuseBeside(schema, keyword, ['type'], path);
    const values = keyword === 'const' ? [schema['const']] : schema['enum'];
    if (!Array.isArray(values) || values.length === 0)
      throw malformed(at(path, 'enum'), 'it must be a list with at least one value');
    const types = schema['type'] === undefined ? [] : typesOf(schema, path);
    const allowed = values.filter(
      (value) => types.length === 0 || types.some((type) => isOfType(value, type)),
    );
    if (allowed.length === 0) throw malformed(at(path, keyword), 'no value in it has the type of the schema');
    const texts = allowed.map((value) => this.#writer.budget.textOf(value).toWellFormed());
    return this.#writer.rule([...new Set(texts)].map((text) => this.#writer.literal(text)).join(' | '));
  }

  #union(schema: Schema, keyword: 'anyOf' | 'oneOf', path: SchemaPath): string {
    const { [keyword]: branches, ...base } = schema;
    const branchPath = at(path, keyword);
    if (!Array.isArray(branches) || branches.length === 0)
      throw malformed(branchPath, 'it must be a list with at least one schema');
    this.#writer.budget.requireNodes(branches.length);
    const plain = Object.keys(base).every((key) => isAnnotation(key));
    const merged = plain
      ? branches
      : branches.map((branch, index) => this.#merged(base, branch, keyword, at(branchPath, index)));
    if (keyword === 'oneOf') {
      requireDisjoint(
        merged.map((branch) => this.#resolved(branch, path)),
        path,
        this.#writer.budget,
      );
    }
    const rules = merged.map((branch, index) => this.compile(branch, at(branchPath, index)));
    return this.#writer.rule([...new Set(rules)].join(' | '));
  }

  /** allOf folded into one schema; refused where two parts limit the same thing in different ways. */
  #flattened(schema: Schema, path: SchemaPath): Schema {
    const { allOf, ...base } = schema;
    if (!Array.isArray(allOf) || allOf.length === 0)
      throw malformed(at(path, 'allOf'), 'it must be a list with at least one schema');
    if (this.#folding.has(schema)) throw malformed(path, 'its references are circular');
    if (this.#folding.size === MAX_DEPTH) throw tooLarge(path);
    this.#folding.add(schema);
    const folded = allOf.reduce<Schema>(
      (sum, part, index) => this.#merged(sum, part, 'allOf', at(at(path, 'allOf'), index)),
      base,
    );
    this.#folding.delete(schema);
    return folded;
  }

  #merged(base: Schema, part: unknown, keyword: string, path: SchemaPath): Schema {
    const resolved = this.#resolved(part, path);
    if (!isObject(resolved)) throw malformed(path, 'a schema is an object');
    const { budget } = this.#writer;
    budget.spend('nodes');
    budget.spend('steps', COPY_STEPS * (breadthOf(base) + breadthOf(resolved)));
    if (resolved['allOf'] !== undefined)
      return this.#merged(base, this.#flattened(resolved, path), keyword, path);
    return mergeSchemas(base, resolved, { keyword, path, budget });
  }

  #resolved(schema: unknown, path: SchemaPath): unknown {
    let current = schema;
    for (let hops = 0; isObject(current) && typeof current['$ref'] === 'string'; hops += 1) {
      if (hops > MAX_DEPTH) throw malformed(path, 'its references are circular');
      refuseBeside(current, '$ref', [], path);
      current = this.#target(current['$ref'], path);
    }
    return current;
  }

  #reference(schema: Schema, path: SchemaPath): string {
    refuseBeside(schema, '$ref', [], path);
    const pointer = schema['$ref'];
    if (typeof pointer !== 'string') throw malformed(at(path, '$ref'), 'it must be a string');
    const known = this.#refs.get(pointer);
    if (known !== undefined) return known;
    const name = this.#writer.reserve();
    this.#refs.set(pointer, name);
    this.#writer.define(name, this.compile(this.#target(pointer, path), this.#pathOf(pointer)));
    return name;
  }

  #target(pointer: string, path: SchemaPath): unknown {
    if (pointer !== '#' && !pointer.startsWith('#/'))
      throw unenforceable(path, '$ref', 'only references inside this schema are followed (#/$defs/…)');
    if (this.#targets.has(pointer)) return this.#targets.get(pointer);
    const target = pointerTarget(this.#root, pointer);
    if (target === undefined) throw malformed(at(path, '$ref'), `there is nothing at "${pointer}"`);
    this.#targets.set(pointer, target);
    return target;
  }

  #pathOf(pointer: string): SchemaPath {
    return pointerSteps(pointer).reduce<SchemaPath>(at, this.#rootPath);
  }
}

function typesOf(schema: Schema, path: SchemaPath): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type) && type.length > 0 && type.every((item) => typeof item === 'string')) {
    // An integer is a number; listing both would only make the grammar ambiguous.
    return [...new Set(type)].filter((item) => item !== 'integer' || !type.includes('number'));
  }
  if (type !== undefined) throw malformed(at(path, 'type'), 'it must name one or more JSON types');
  const implied = ['object', 'array', 'string', 'number'];
  return implied.filter((name) =>
    (KEYWORDS_OF_TYPE[name] ?? []).some((keyword) => schema[keyword] !== undefined),
  );
}

function refuseUnknown(schema: Schema, path: SchemaPath): void {
  for (const key of Object.keys(schema)) {
    if (!isEnforced(key) && !isAnnotation(key))
      throw unenforceable(path, key, 'Hearth has no grammar for it; remove it');
  }
}

function refuseBeside(schema: Schema, keyword: string, allowed: readonly string[], path: SchemaPath): void {
  for (const key of Object.keys(schema)) {
    if (key !== keyword && !allowed.includes(key) && !isAnnotation(key))
      throw unenforceable(path, key, `it cannot be combined with "${keyword}"`);
  }
}

/** What going through a schema once costs, without its sub-schemas. */
function breadthOf(schema: Schema): number {
  return Object.entries(schema).reduce((sum, [key, value]) => {
    if (!isEnforced(key) || typeof value !== 'object' || value === null) return sum + 1;
    return sum + 1 + (Array.isArray(value) ? value.length : Object.keys(value).length);
  }, 0);
}

export function isEnforced(key: string): boolean {
  return ENFORCED.has(key);
}

function isAnnotation(key: string): boolean {
  return ANNOTATIONS.has(key) || key.startsWith('x-');
}

function isOfType(value: unknown, type: string): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
