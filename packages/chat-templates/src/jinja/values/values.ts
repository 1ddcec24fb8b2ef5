/**
 * chat-templates/jinja/values owns the values of templates: Python's types, comparison and output. It knows nothing
 * of the syntax of templates or of chats.
 */
import { TemplateError } from '../../template-error.ts';
import { Text } from './text.ts';

export type Value =
  | Undefined
  | null
  | boolean
  /** An integer; other numbers are a Float. */
  | number
  /** An integer beyond the exact range of a number. */
  | bigint
  | Float
  | Text
  | Sequence
  | Dict
  | Namespace
  | Callable;

/** A missing name or member: empty when written or iterated, an error when used. */
export class Undefined {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

export class Float {
  readonly number: number;
  /** The client's spelling; absent: Python's. */
  readonly spelling: string | undefined;

  constructor(number: number, spelling?: string) {
    this.number = number;
    this.spelling = spelling;
  }
}

/** Generators are lists, which can be iterated more than once. */
export class Sequence {
  readonly items: Value[];
  readonly kind: 'list' | 'tuple';

  constructor(items: Value[], kind: 'list' | 'tuple' = 'list') {
    this.items = items;
    this.kind = kind;
  }
}

/** Result of `groupby`: unpacks as a pair and has named members. */
export class Group extends Sequence {
  constructor(grouper: Value, items: Value[]) {
    super([grouper, new Sequence(items)], 'tuple');
  }

  named(name: string): Value | undefined {
    return this.items[['grouper', 'list'].indexOf(name)];
  }
}

export class Dict {
  readonly #entries = new Map<string, [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(hashKey(key))?.[1];
  }

  /** Undefined also for values that cannot be keys. */
  find(key: Value): Value | undefined {
    const hash = hashIfAny(key);
    return hash === undefined ? undefined : this.#entries.get(hash)?.[1];
  }

  named(name: string): Value | undefined {
    return this.#entries.get(hashOfText(name))?.[1];
  }

  has(key: Value): boolean {
    return this.#entries.has(hashKey(key));
  }

  /** An existing entry keeps its position and its first key. */
  set(key: Value, value: Value): void {
    const hash = hashKey(key);
    const known = this.#entries.get(hash);
    if (known === undefined) this.#entries.set(hash, [key, value]);
    else known[1] = value;
  }

  delete(key: Value): void {
    this.#entries.delete(hashKey(key));
  }

  keys(): Value[] {
    return this.entries().map(([key]) => key);
  }

  values(): Value[] {
    return this.entries().map(([, value]) => value);
  }

  entries(): [Value, Value][] {
    return [...this.#entries.values()];
  }
}

/** Result of `namespace()`: the one object whose members `set` can change. Also `loop`. */
export class Namespace {
  readonly name: string;
  readonly members: Map<string, Value>;

  constructor(name: string, members: Iterable<readonly [string, Value]>) {
    this.name = name;
    this.members = new Map(members);
  }
}

export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

export class Callable {
  readonly name: string;
  readonly call: (args: Arguments) => Value;

  constructor(name: string, call: (args: Arguments) => Value) {
    this.name = name;
    this.call = call;
  }
}

export function refusal(reason: string, cause?: unknown): TemplateError {
  return new TemplateError(reason, cause);
}

/** A present value may be None, which `??` would treat as absent. */
export function orElse(value: Value | undefined, otherwise: () => Value): Value {
  return value === undefined ? otherwise() : value;
}

export function isText(value: unknown): value is Text {
  return value instanceof Text;
}

/** A number if it is exact, otherwise a bigint. */
export function toInteger(integer: bigint): number | bigint {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : integer;
}

/** Accepts integers, booleans and floats; undefined for other values. */
export function toNumber(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return Number(value);
  return value instanceof Float ? value.number : undefined;
}

export function isTrue(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false;
  if (isText(value)) return value.string !== '';
  if (value instanceof Sequence) return value.items.length > 0;
  if (value instanceof Dict) return value.size > 0;
  const number = toNumber(value);
  return number === undefined || number !== 0;
}

export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' || typeof value === 'bigint') return 'int';
  if (value instanceof Float) return 'float';
  if (isText(value)) return 'str';
  if (value instanceof Sequence) return value.kind;
  if (value instanceof Dict) return 'dict';
  if (value instanceof Undefined) return 'Undefined';
  return value instanceof Namespace ? 'Namespace' : 'function';
}

/** Equal keys have equal hashes: 1, 1.0 and true are one key, as in Python, and so are all undefined values. */
function hashKey(key: Value): string {
  const hash = hashIfAny(key);
  if (hash === undefined) throw refusal(`unhashable type: '${typeName(key)}'`);
  return hash;
}

function hashIfAny(key: Value): string | undefined {
  if (isText(key)) return hashOfText(key.string);
  if (typeof key === 'bigint') return `n${key}`;
  const number = toNumber(key);
  if (number !== undefined) return `n${Number.isInteger(number) ? BigInt(number) : number}`;
  if (key === null) return 'none';
  if (key instanceof Undefined) return 'undefined';
  if (!(key instanceof Sequence) || key.kind !== 'tuple') return undefined;
  const hashes = key.items.map(hashIfAny);
  return hashes.includes(undefined) ? undefined : `t${JSON.stringify(hashes)}`;
}

function hashOfText(text: string): string {
  return `s${text}`;
}
