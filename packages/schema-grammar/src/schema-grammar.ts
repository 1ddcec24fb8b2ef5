/**
 * schema-grammar owns the compiler from JSON Schema to GBNF, llama.cpp's grammar notation. Every keyword is enforced,
 * known as an annotation, or refused by name; if the caller permits it, omitted and reported instead. It knows no
 * model, no wire shape and no process: the server compiles a schema to find out whether it can be enforced, the
 * worker compiles the same one to constrain the sampler. Invariant: every text of a compiled grammar is valid JSON
 * for the schema unless a keyword was omitted, and every valid value has such a text unless a keyword was reported as
 * narrower. A value is never cut: what the grammar cannot count is left to the check of the answer. This file: one
 * schema node to one rule.
 */
import { containingRule, withoutContains } from './array-contains.ts';
import { arrayRule } from './array-grammar.ts';
import { checkGbnf } from './gbnf/gbnf-check.ts';
import { GbnfWriter, MAX_COUNTED, type WriterOptions } from './gbnf/gbnf-writer.ts';
import { GrammarError } from './grammar-error.ts';
import { anyObject, anyValue, booleans, nullRule } from './json-grammar.ts';
import { integerRule, numberRule } from './number/number-grammar.ts';
import { objectRule } from './object-grammar.ts';
import { isAnnotation, isAssertion, JSON_TYPES, keywordsOfType } from './schema/keywords.ts';
import { readableSchema } from './schema/readable-schema.ts';
import { isTooLarge, MAX_DEPTH, tooLarge } from './schema/schema-budget.ts';
import { schemaBreadth, isPureReference, referenceIn, SchemaFolding } from './schema/schema-folding.ts';
import { ALSO, alsoIn, isFraction, notValues } from './schema/schema-merge.ts';
import { areDisjointBranches } from './schema/schema-disjoint.ts';
import { holdsRounded, unspelled, withSpelledValues } from './schema/schema-spellings.ts';
import { accepts } from './schema/schema-value.ts';
import {
  at,
  atEntry,
  readCount,
  impossible,
  isImpossible,
  isObject,
  madeHere,
  malformed,
  pointerSteps,
  type Schema,
  type SchemaPath,
  unenforceable,
} from './schema/schema-walk.ts';
import { writeJson } from '../../exact-json/src/spelled-numbers.ts';
import { TOO_LARGE } from './pattern/pattern.ts';
import { CHECKED_FORMATS, formatPattern, FREE_FORMATS, integerBounds } from './string-formats.ts';
import { stringRule, stringWithin } from './string-grammar.ts';

/** Limit of `oneOf` branches that are made disjoint by negations of the others. */
const MAX_EXCLUSIVE = 6;

/**
 * Returns the rule name of a schema inside a larger grammar. Throws for what cannot be enforced or parsed; with
 * `relax` it is omitted, if necessary the whole schema.
 */
export function schemaRule(writer: GbnfWriter, schema: unknown, path: SchemaPath): string {
  try {
    const held = withSpelledValues(schema, path, (place, keyword) => writer.later(place, keyword));
    const readable = writer.relax ? readableFor(writer, held, path) : held;
    return new SchemaCompiler(writer, readable, path).compile(readable, path);
  } catch (error) {
    if (writer.budget.isSpent) throw tooLarge(path);
    if (!writer.relax || !(error instanceof GrammarError) || isTooLarge(error)) throw error;
    writer.unusable(error.path ?? path);
    return isObject(schema) && schema['type'] === 'object' ? anyObject(writer) : anyValue(writer);
  }
}

export function readableFor(writer: GbnfWriter, schema: unknown, path: SchemaPath): unknown {
  const dropped = (place: SchemaPath, key: string): void => writer.later(place, key);
  return readableSchema(schema, path, { budget: writer.budget, dropped });
}

/** A grammar whose texts are exactly one JSON value of the schema. */
export function compileSchema(schema: unknown, path: SchemaPath, options: WriterOptions = {}): string {
  const writer = new GbnfWriter(options);
  const gbnf = writer.toGbnf(schemaRule(writer, schema, path));
  // Clients know their schema, not the generated rules, so errors name the schema.
  checkGbnf(gbnf, (reason) => malformed(path, reason));
  return gbnf;
}

class SchemaCompiler {
  readonly #writer: GbnfWriter;
  readonly #folding: SchemaFolding;
  readonly #rootPath: SchemaPath;
  readonly #rules = new Map<Schema, string>();
  #depth = 0;

  constructor(writer: GbnfWriter, root: unknown, rootPath: SchemaPath) {
    this.#writer = writer;
    this.#rootPath = rootPath;
    this.#folding = new SchemaFolding(root, {
      budget: writer.budget,
      cannot: (path, keyword, reason) => writer.cannot(path, keyword, reason),
    });
  }

  readonly compile = (schema: unknown, path: SchemaPath): string => {
    this.#writer.budget.spend('nodes');
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw tooLarge(path);
    try {
      return isObject(schema) && refers(schema) ? this.#shared(schema, path) : this.#node(schema, path);
    } finally {
      this.#depth -= 1;
    }
  };

  /** Named before it is built, so that the schema may contain itself. */
  #shared(schema: Schema, path: SchemaPath): string {
    const known = this.#rules.get(schema);
    if (known !== undefined) return known;
    const name = this.#writer.reserve();
    this.#rules.set(schema, name);
    try {
      this.#writer.define(name, this.#node(schema, path));
      return name;
    } catch (error) {
      this.#rules.delete(schema);
      throw error;
    }
  }

  #node(given: unknown, path: SchemaPath): string {
    if (given === true) return anyValue(this.#writer);
    if (given === false) throw impossible(path, 'false allows no value at all');
    if (!isObject(given)) throw malformed(path, 'a schema is an object or true');
    this.#writer.budget.spend('steps', schemaBreadth(given));
    this.#folding.refuseUnknown(given, path);
    if (isPureReference(given)) return this.#reference(given, path);
    const schema = this.#folding.plain(given, path);
    if (schema['nullable'] === true) return this.#nullable(schema, path);
    if (schema['allOf'] !== undefined) return this.#node(this.#folding.flattened(schema, path), path);
    if (schema['anyOf'] !== undefined) return this.#union(schema, 'anyOf', path);
    if (schema['oneOf'] !== undefined) return this.#union(schema, 'oneOf', path);
    if (schema['not'] !== undefined) return this.#negation(schema, path);
    if ('const' in schema || schema['enum'] !== undefined) return this.#values(schema, path);
    return this.#types(schema, path);
  }

  #reference(schema: Schema, path: SchemaPath): string {
    const target = this.#folding.resolved(schema, path);
    const pointer = schema['$ref'];
    const isPointer = typeof pointer === 'string' && pointer.startsWith('#/');
    const place = isPointer ? pointerSteps(pointer).reduce<SchemaPath>(at, this.#rootPath) : path;
    return isObject(target) ? this.#shared(target, place) : this.#node(target, path);
  }

  #types(schema: Schema, path: SchemaPath): string {
    const types = readTypes(schema, path);
    if (types.length === 0) return anyValue(this.#writer);
    if (schema['type'] === undefined && notValues(schema).length === 0) this.#writer.narrowed(path, 'type');
    const rules: string[] = [];
    let first: unknown = null;
    for (const type of types) {
      try {
        rules.push(this.#typed(type, schema, path));
      } catch (error) {
        if (!isImpossible(error)) throw error;
        first ??= error;
      }
    }
    if (rules.length === 0) throw first;
    return this.#writer.rule(rules.join(' | '));
  }

  #typed(type: string, schema: Schema, path: SchemaPath): string {
    const not = notValues(schema);
    switch (type) {
      case 'object':
        this.#refuseNot(not, isObject, path);
        return objectRule(this.#writer, schema, path, this.compile);
      case 'array':
        this.#refuseNot(not, Array.isArray, path);
        return this.#array(schema, path);
      case 'string':
        return this.#string(schema, path);
      case 'integer':
        if (isFraction(schema)) throw impossible(path, 'no whole number has a fraction');
        return integerRule(this.#writer, withFormatBounds(schema), path, onlyNumbers(not));
      case 'number':
        if (integerBounds(schema['format']) !== null) return this.#typed('integer', schema, path);
        return numberRule(this.#writer, schema, path, {
          not: onlyNumbers(not),
          isFraction: isFraction(schema),
        });
      case 'boolean': {
        const left = [true, false].filter((value) => !not.includes(value));
        if (left.length === 0) throw impossible(path, 'no boolean is allowed');
        return left.length === 2
          ? booleans(this.#writer)
          : this.#writer.rule(this.#writer.literal(String(left[0])));
      }
      case 'null':
        if (not.includes(null)) throw impossible(path, 'null is not allowed');
        return nullRule(this.#writer);
      default:
        throw malformed(at(path, 'type'), `"${type}" is not a JSON type`);
    }
  }

  #refuseNot(not: readonly unknown[], isOfKind: (value: unknown) => boolean, path: SchemaPath): void {
    if (not.some(isOfKind)) this.#writer.cannot(path, 'not', 'such a value cannot be excluded');
  }

  #string(schema: Schema, path: SchemaPath): string {
    const min = readCount(schema, 'minLength', path) ?? 0;
    const max = readCount(schema, 'maxLength', path);
    if (max !== null && max < min) throw impossible(path, 'maxLength is less than minLength');
    if (min > MAX_COUNTED) {
      this.#writer.cannot(path, 'minLength', `lengths above ${MAX_COUNTED} cannot be counted`);
      return this.#string({ ...schema, minLength: 0 }, path);
    }
    if (max !== null && max > MAX_COUNTED) {
      this.#writer.later(path, 'maxLength');
      return this.#string({ ...schema, maxLength: undefined }, path);
    }
    const sources = this.#sources(schema, path);
    const not = notValues(schema).filter((value) => typeof value === 'string');
    if (sources.length === 0 && not.length === 0) return stringRule(this.#writer, min, max);
    return this.#stringWithin({ min, max, not }, sources, path);
  }

  #stringWithin(
    limits: { readonly min: number; readonly max: number | null; readonly not: readonly string[] },
    sources: readonly StringSource[],
    path: SchemaPath,
  ): string {
    const last = sources.at(-1);
    const keyword = last?.keyword ?? (limits.not.length > 0 ? 'not' : 'maxLength');
    const refusals = new Map<unknown, string>();
    const refuse = (reason: string): Error => {
      const error = unenforceable(path, keyword, reason);
      refusals.set(error, reason);
      return error;
    };
    try {
      const rule = stringWithin(this.#writer, { ...limits, patterns: sources }, refuse);
      if (rule !== null) return rule;
      if (!sources.some((source) => source.keyword === 'format'))
        throw impossible(path, 'no text meets all that it asks of a string');
      throw refuse('it and the other keywords of the string have no text in common');
    } catch (error) {
      const reason = refusals.get(error);
      if (reason === undefined || this.#writer.budget.isSpent) throw error;
      const length = limits.max !== null ? 'maxLength' : limits.min > 0 ? 'minLength' : null;
      if (last !== undefined && length !== null && reason === TOO_LARGE) {
        this.#writer.later(path, length);
        return this.#stringWithin(
          { ...limits, ...(length === 'maxLength' ? { max: null } : { min: 0 }) },
          sources,
          path,
        );
      }
      this.#writer.cannot(path, keyword, reason);
      if (last === undefined) return stringRule(this.#writer, limits.min, limits.max);
      return sources.length === 1 && limits.not.length === 0
        ? stringRule(this.#writer, limits.min, limits.max)
        : this.#stringWithin(limits, sources.slice(0, -1), path);
    }
  }

  /** Patterns first, because they constrain more than formats. */
  #sources(schema: Schema, path: SchemaPath): StringSource[] {
    const { pattern, format } = schema;
    if (pattern !== undefined && typeof pattern !== 'string')
      throw malformed(at(path, 'pattern'), 'it must be a string');
    const also = alsoIn(schema);
    const formats = [format, ...also.map((item) => ('format' in item ? item.format : undefined))];
    return [
      ...(pattern === undefined ? [] : [{ source: pattern, negated: false, keyword: 'pattern' }]),
      ...also.flatMap((item) =>
        'pattern' in item
          ? [{ source: item.pattern, negated: item.negated, keyword: item.negated ? 'not' : 'pattern' }]
          : [],
      ),
      ...formats.flatMap((name) => (typeof name === 'string' ? this.#formatSource(name, schema, path) : [])),
    ];
  }

  #formatSource(format: string, { pattern }: Schema, path: SchemaPath): StringSource[] {
    const isChecked = CHECKED_FORMATS.has(format);
    if (isChecked) this.#writer.later(path, 'format');
    const source = formatPattern(format);
    if (source !== null) return [{ source, negated: false, keyword: 'format' }];
    const isFree = isChecked || FREE_FORMATS.has(format) || integerBounds(format) !== null;
    if (!isFree && pattern === undefined)
      this.#writer.cannot(path, 'format', `"${format.slice(0, 40)}" is not a known format; use "pattern"`);
    return [];
  }

  #array(schema: Schema, path: SchemaPath): string {
    const { both } = this.#folding;
    const containing = containingRule(this.#writer, schema, path, { compile: this.compile, both });
    if (containing !== null) return containing;
    const plain = withoutContains(schema, path, {
      both,
      cannot: (place, keyword, reason) => this.#writer.cannot(place, keyword, reason),
      narrowed: (place, keyword) => this.#writer.narrowed(place, keyword),
    });
    return arrayRule(this.#writer, plain, path, this.compile);
  }

  #nullable(schema: Schema, path: SchemaPath): string {
    const { nullable: _, ...rest } = schema;
    return this.#writer.rule(`${this.#node(rest, path)} | ${nullRule(this.#writer)}`);
  }

  #values(schema: Schema, path: SchemaPath): string {
    const keyword = 'const' in schema ? 'const' : 'enum';
    const values = keyword === 'const' ? [schema['const']] : schema['enum'];
    if (!Array.isArray(values) || values.length === 0)
      throw malformed(at(path, 'enum'), 'it must be a list with at least one value');
    const { const: _const, enum: _enum, ...others } = schema;
    const limits = Object.keys(others).filter((key) => key === ALSO || isAssertion(key));
    if (schema['type'] !== undefined) readTypes(schema, path);
    const allowed = values.filter((value) => {
      // Their comparison uses JavaScript numbers.
      if (limits.length > 0 && holdsRounded(value)) {
        this.#writer.later(path, keyword);
        return true;
      }
      const verdict = limits.length === 0 ? true : accepts(others, unspelled(value));
      if (verdict !== null) return verdict;
      const [odd = keyword] = limits.filter((key) => key !== 'type');
      this.#writer.cannot(path, odd, `it cannot be combined with "${keyword}"`);
      return true;
    });
    if (allowed.length === 0) throw impossible(at(path, keyword), 'no value in it meets the other keywords');
    const texts = allowed.map((value) => {
      const text = writeJson(value).toWellFormed();
      this.#writer.budget.spend('steps', text.length);
      return text;
    });
    return this.#writer.rule([...new Set(texts)].map((text) => this.#writer.literal(text)).join(' | '));
  }

  #union(schema: Schema, keyword: 'anyOf' | 'oneOf', path: SchemaPath): string {
    const { [keyword]: branches, ...base } = schema;
    const branchPath = at(path, keyword);
    if (!Array.isArray(branches) || branches.length === 0)
      throw malformed(branchPath, 'it must be a list with at least one schema');
    this.#writer.budget.requireNodes(branches.length);
    const apart = keyword === 'oneOf' ? this.#exclusive(schema, branches, path) : branches;
    if (base['unevaluatedItems'] !== undefined)
      this.#writer.cannot(path, 'unevaluatedItems', `it stands beside "${keyword}"`);
    const plain = Object.keys(base).every((key) => isAnnotation(key));
    const rules = new Set<string>();
    let first: unknown = null;
    for (const [index, branch] of apart.entries()) {
      try {
        const merged = plain
          ? branch
          : this.#folding.merged(base, branch, keyword, atEntry(path, keyword, branches, index));
        rules.add(this.compile(merged, atEntry(path, keyword, branches, index)));
      } catch (error) {
        if (!isImpossible(error)) throw error;
        first ??= error;
      }
    }
    if (rules.size === 0) throw first;
    return this.#writer.rule([...rules].join(' | '));
  }

  #exclusive(schema: Schema, branches: readonly unknown[], path: SchemaPath): readonly unknown[] {
    const resolved = branches.map((branch) => this.#folding.resolved(branch, path));
    if (areDisjointBranches(resolved, path, this.#writer.budget)) return branches;
    const opposites = branches.map((branch) => this.#folding.negations(branch, path));
    const canExclude = branches.length <= MAX_EXCLUSIVE && unevaluatedIn(schema) === undefined;
    if (canExclude && opposites.every((opposite) => opposite !== null)) {
      return madeHere(
        branches.map((branch, index) => {
          const others = opposites.filter((_, other) => other !== index).map(asSchema);
          return { allOf: madeHere([branch, ...others]) };
        }),
      );
    }
    this.#writer.cannot(
      path,
      'oneOf',
      'more than one branch could match; give each a constant property, or use anyOf',
    );
    return branches;
  }

  #negation(schema: Schema, path: SchemaPath): string {
    const { not, ...base } = schema;
    // Members named by `not` count as unevaluated, which the merged schema would not show.
    const ways = unevaluatedIn(schema) === undefined ? this.#folding.negations(not, path) : null;
    if (ways === null) {
      this.#writer.cannot(path, 'not', 'what it leaves has no grammar; say what is allowed instead');
      return this.#node(base, path);
    }
    if (ways.length === 0) throw impossible(at(path, 'not'), 'it forbids every value');
    return this.#node(this.#folding.merged(base, asSchema(ways), 'not', path), path);
  }
}

interface StringSource {
  readonly source: string;
  readonly negated: boolean;
  readonly keyword: string;
}

function refers(schema: Schema): boolean {
  if (isPureReference(schema)) return false;
  return referenceIn(schema) !== undefined || schema['allOf'] !== undefined;
}

function unevaluatedIn(schema: Schema): string | undefined {
  return ['unevaluatedProperties', 'unevaluatedItems'].find((keyword) => schema[keyword] !== undefined);
}

function asSchema(ways: readonly unknown[] | null): unknown {
  const [only, ...others] = ways ?? [];
  if (ways?.length === 0) return false;
  return others.length === 0 ? only : { anyOf: madeHere([...(ways ?? [])]) };
}

function onlyNumbers(values: readonly unknown[]): number[] {
  return values.filter((value) => typeof value === 'number');
}

function withFormatBounds(schema: Schema): Schema {
  const { format, minimum, maximum } = schema;
  const bounds = integerBounds(format);
  if (bounds === null) return schema;
  const [low, high] = bounds;
  return {
    ...schema,
    minimum: typeof minimum === 'number' ? Math.max(minimum, low) : low,
    maximum: typeof maximum === 'number' ? Math.min(maximum, high) : high,
  };
}

function readTypes(schema: Schema, path: SchemaPath): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type) && type.length > 0 && type.every((item) => typeof item === 'string')) {
    // An integer is a number; listing both would only make the grammar ambiguous.
    return [...new Set(type)].filter((item) => item !== 'integer' || !type.includes('number'));
  }
  if (type !== undefined) throw malformed(at(path, 'type'), 'it must name one or more JSON types');
  if (notValues(schema).length > 0) return JSON_TYPES.filter((name) => name !== 'integer');
  const implied = ['object', 'array', 'string', 'number'];
  return implied.filter((name) => keywordsOfType(name).some((keyword) => schema[keyword] !== undefined));
}
