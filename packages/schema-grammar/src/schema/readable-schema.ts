/**
 * Removes unreadable parts of a schema: unknown types, texts in place of schemas, broken patterns. A removed part
 * allows any value. Removal never forbids more values: inside `oneOf` or `not` the whole keyword is removed, and
 * keywords for remaining properties or items are removed together with the list that they complete.
 */
import { keepSpellings } from '../../../exact-json/src/spelled-numbers.ts';
import { JSON_TYPES, KEYWORDS, type Shape } from './keywords.ts';
import { MAX_DEPTH, type SchemaBudget, tooLarge } from './schema-budget.ts';
import { isPureReference, referenceIn } from './schema-folding.ts';
import { SchemaRefs } from './schema-refs.ts';
import { accepts } from './schema-value.ts';
import { at, isObject, type Schema, type SchemaPath } from './schema-walk.ts';

/** Deeper schemas are refused, so that none exhausts the stack. */
const DEEPEST = 500;

/** Keywords that forbid more if their schemas allow more. */
const REVERSED: ReadonlySet<string> = new Set(['not', 'oneOf', 'if', 'contains']);
/** Keywords that depend on any other keyword. */
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];
const RESTS: Readonly<Record<string, readonly string[]>> = {
  properties: ['additionalProperties'],
  patternProperties: ['additionalProperties'],
  prefixItems: ['items'],
  items: ['additionalItems'],
};

interface Reading {
  readonly budget: SchemaBudget;
  readonly dropped: (path: SchemaPath, key: string) => void;
}

/** Returns the same object if everything is readable. */
export function readableSchema(schema: unknown, path: SchemaPath, reading: Reading): unknown {
  return isObject(schema) ? new Reader(schema, reading).schema(schema, path) : schema;
}

type Kept = { readonly value: unknown } | undefined;

class Reader {
  readonly #reading: Reading;
  readonly #refs: SchemaRefs;
  #depth = 0;

  constructor(root: Schema, reading: Reading) {
    this.#reading = reading;
    this.#refs = new SchemaRefs(root);
  }

  schema(schema: Schema, path: SchemaPath): Schema {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw tooLarge(path);
    const kept = new Map<string, unknown>();
    const lost = new Set<string>();
    for (const key of Object.keys(schema)) {
      this.#reading.budget.spend('steps');
      const found = this.#keyword(schema, key, path);
      if (found !== undefined) kept.set(key, found.value);
      if (found === undefined) lost.add(key);
    }
    this.#dropRests(kept, lost, path);
    this.#depth -= 1;
    const isSame =
      kept.size === Object.keys(schema).length && [...kept].every(([key, value]) => schema[key] === value);
    return isSame ? schema : keepSpellings(Object.fromEntries(kept), schema);
  }

  #drop(path: SchemaPath, key: string): undefined {
    this.#reading.dropped(path, key);
    return undefined;
  }

  #keyword(schema: Schema, key: string, path: SchemaPath): Kept {
    const value = schema[key];
    const place = at(path, key);
    const shape = Object.hasOwn(KEYWORDS, key) ? KEYWORDS[key]?.value : undefined;
    switch (shape) {
      case undefined:
        return { value: isObject(value) && !key.startsWith('x-') ? this.schema(value, place) : value };
      case 'schema':
        return this.#one(key, value, path);
      case 'schemas':
        return this.#list(key, value, path);
      case 'items':
        return Array.isArray(value) ? this.#list(key, value, path) : this.#one(key, value, path);
      case 'named':
        return this.#named(key, value, path);
      case 'ref':
        return this.#leads(schema, key) ? { value } : this.#drop(path, key);
      case 'values':
        return hasValue(value, schema['type']) ? { value } : this.#drop(path, key);
      default:
        return isReadable(shape, value) ? { value } : this.#drop(path, key);
    }
  }

  #leads(schema: Schema, keyword: string): boolean {
    let target: unknown = schema;
    let follow = keyword;
    for (let hops = 0; isObject(target); hops += 1) {
      const reference: unknown = target[follow];
      if (typeof reference !== 'string' || hops === MAX_DEPTH) return false;
      this.#reading.budget.spend('steps', reference.length);
      target =
        follow === '$dynamicRef'
          ? this.#refs.dynamicTarget(target, reference)
          : this.#refs.target(target, reference);
      // A chain of nothing but references may be circular.
      if (!isObject(target) || !isPureReference(target)) break;
      follow = referenceIn(target) ?? '$ref';
    }
    return isObject(target) || typeof target === 'boolean';
  }

  #one(key: string, value: unknown, path: SchemaPath): Kept {
    if (typeof value === 'boolean') return { value };
    const read = isObject(value) ? this.schema(value, at(path, key)) : null;
    if (read === value) return { value };
    if (read === null || REVERSED.has(key)) this.#drop(path, key);
    if (REVERSED.has(key)) return undefined;
    return { value: read ?? true };
  }

  #list(key: string, value: unknown, path: SchemaPath): Kept {
    const place = at(path, key);
    const isFull = Array.isArray(value) && (value.length > 0 || key === 'items' || key === 'prefixItems');
    if (!isFull) return this.#drop(path, key);
    let changed = false;
    let isAny = false;
    const read = value.map((entry: unknown, index) => {
      if (typeof entry === 'boolean') return entry;
      const part = isObject(entry) ? this.schema(entry, at(place, index)) : true;
      if (!isObject(entry)) this.#drop(place, String(index));
      changed ||= part !== entry;
      isAny ||= part === true;
      return part;
    });
    if (!changed) return { value };
    return REVERSED.has(key) || (key === 'anyOf' && isAny) ? this.#drop(path, key) : { value: read };
  }

  #named(key: string, value: unknown, path: SchemaPath): Kept {
    if (!isObject(value)) return this.#drop(path, key);
    const place = at(path, key);
    let changed = false;
    const read = Object.entries(value).map(([name, entry]) => {
      const [part, isKnown] = this.#member(key, entry, at(place, name));
      if (!isKnown) this.#drop(place, name);
      changed ||= part !== entry;
      return [name, part] as const;
    });
    const broken = key === 'patternProperties' ? read.find(([name]) => !isPattern(name)) : undefined;
    if (broken !== undefined) return this.#drop(place, broken[0]);
    return { value: changed ? Object.fromEntries(read) : value };
  }

  #member(key: string, entry: unknown, place: SchemaPath): readonly [unknown, boolean] {
    if (typeof entry === 'boolean') return [entry, true];
    if (isObject(entry)) return [this.schema(entry, place), true];
    return key === 'dependencies' && isReadable('names', entry) ? [entry, true] : [true, false];
  }

  /** Without the list that it completes, `additionalProperties: false` would forbid what the list declares. */
  #dropRests(kept: Map<string, unknown>, lost: ReadonlySet<string>, path: SchemaPath): void {
    if (lost.size === 0) return;
    for (const key of [...[...lost].flatMap((list) => RESTS[list] ?? []), ...UNEVALUATED]) {
      if (!kept.has(key) || kept.get(key) === true) continue;
      kept.set(key, true);
      this.#drop(path, key);
    }
  }
}

function isReadable(
  shape: Exclude<Shape, 'schema' | 'schemas' | 'items' | 'named' | 'ref' | 'values'>,
  value: unknown,
): boolean {
  switch (shape) {
    case 'any':
      return true;
    case 'type':
      return isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType));
    case 'names':
      return Array.isArray(value) && value.every((name) => typeof name === 'string');
    case 'named names':
      return isObject(value) && Object.values(value).every((names) => isReadable('names', names));
    case 'text':
      return typeof value === 'string';
    case 'pattern':
      return typeof value === 'string' && isPattern(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0;
    case 'number':
      return typeof value === 'number';
    case 'bound':
      return typeof value === 'number' || typeof value === 'boolean';
    case 'step':
      return typeof value === 'number' && value > 0;
    default:
      return shape satisfies never;
  }
}

function hasValue(values: unknown, type: unknown): boolean {
  const limits = isReadable('type', type) ? { type } : {};
  return Array.isArray(values) && values.some((value) => accepts(limits, value) !== false);
}

function isType(value: unknown): boolean {
  return (JSON_TYPES as readonly unknown[]).includes(value);
}

function isPattern(source: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      return new RegExp(source, flags).source.length > 0;
    } catch {
      return false;
    }
  });
}
