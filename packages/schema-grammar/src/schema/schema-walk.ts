import { GrammarError } from '../grammar-error.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** Path of a sub-schema as clients read it: `response_format.json_schema.schema.properties.age`. */
export type SchemaPath = string;

export type Compile = (schema: unknown, path: SchemaPath) => string;

export function at(path: SchemaPath, key: string | number): SchemaPath {
  if (typeof key === 'number') return `${path}[${key}]`;
  return /^[A-Za-z_$][\w$-]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

const generated = new WeakSet<object>();

/** Marks a list of schemas that no client wrote: its entries have the path of the surrounding schema. */
export function madeHere<T extends object>(list: T): T {
  generated.add(list);
  return list;
}

export function atEntry(path: SchemaPath, keyword: string, list: object, index: number): SchemaPath {
  return generated.has(list) ? path : at(at(path, keyword), index);
}

/** Names the keyword, its place, the reason and the remedy. */
export function unenforceable(path: SchemaPath, keyword: string, reason: string): GrammarError {
  const param = at(path, keyword);
  return new GrammarError(param, `The keyword "${keyword}" at ${param} cannot be enforced: ${reason}.`);
}

export function malformed(path: SchemaPath, reason: string): GrammarError {
  return new GrammarError(path, `The schema at ${path} is not usable: ${reason}.`);
}

const impossibles = new WeakSet<object>();

/** For a schema without a valid value; such a branch or optional property is omitted. */
export function impossible(path: SchemaPath, reason: string): GrammarError {
  const error = malformed(path, reason);
  impossibles.add(error);
  return error;
}

export function isImpossible(error: unknown): boolean {
  return typeof error === 'object' && error !== null && impossibles.has(error);
}

/** Null if no value is possible. */
export function possible(compile: () => string): string | null {
  try {
    return compile();
  } catch (error) {
    if (isImpossible(error)) return null;
    throw error;
  }
}

/** JSON Pointer relative to the schema at `root`, which must be a prefix of the path. */
export function toPointer(path: SchemaPath, root: SchemaPath): string {
  const steps = path.slice(root.length).matchAll(/\.([A-Za-z_$][\w$-]*)|\[("(?:[^"\\]|\\.)*"|\d+)\]/g);
  return [...steps]
    .map(([, name, index = '']) => name ?? (index.startsWith('"') ? (JSON.parse(index) as string) : index))
    .map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

export function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined if the pointer leads nowhere. */
export function pointerTarget(root: unknown, pointer: string): unknown {
  let target = root;
  for (const key of pointerSteps(pointer)) {
    target =
      typeof target === 'object' && target !== null && Object.hasOwn(target, key)
        ? Reflect.get(target, key)
        : undefined;
  }
  return target;
}

export function pointerSteps(pointer: string): string[] {
  return pointer.split('/').slice(1).map(decodeStep);
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step.replaceAll('~1', '/').replaceAll('~0', '~');
  }
}

export function readCount(schema: Schema, keyword: string, path: SchemaPath): number | null {
  const value = schema[keyword];
  if (value === undefined) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0)
    return Math.min(value, Number.MAX_SAFE_INTEGER);
  throw malformed(at(path, keyword), 'it must be a whole number, 0 or more');
}

export function readNumber(schema: Schema, keyword: string, path: SchemaPath): number | null {
  const value = schema[keyword];
  if (value === undefined) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw malformed(at(path, keyword), 'it must be a number');
}

export function readNames(schema: Schema, keyword: string, path: SchemaPath): readonly string[] {
  const value = schema[keyword] ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw malformed(at(path, keyword), 'it must be a list of strings');
}
