/** Values of a schema in the client's spelling, and bounds whose digits a JavaScript number loses. */
import {
  keepSpellings,
  spelled,
  SpelledNumber,
  spelledMember,
} from '../../../exact-json/src/spelled-numbers.ts';
import {
  compareExact,
  exactKey,
  type ExactNumber,
  exactNumber,
} from '../../../exact-json/src/exact-number.ts';
import { toDecimal, neighbour } from '../number/decimal.ts';
import { DATA_KEYWORDS } from './keywords.ts';
import { at, isObject, type Schema, type SchemaPath } from './schema-walk.ts';

const VALUES = new Set(['const', 'enum']);
const BOUNDS = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']);
const NAMES = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

const REVERSING: Readonly<Record<string, readonly string[]>> = {
  not: [],
  oneOf: [],
  if: ['then', 'else'],
  contains: ['minContains', 'maxContains'],
};

type Later = (path: SchemaPath, keyword: string) => void;

/**
 * The schema for the grammar: a SpelledNumber in `const` and `enum`; rounded numbers allow more. Bounds move
 * outwards; `multipleOf`, and keywords that would turn more into less, are omitted.
 */
export function withSpelledValues(schema: unknown, path: SchemaPath, later: Later): unknown {
  const isExact = !holdsRounded(spelled(schema));
  const number = (owner: object, key: string, place: SchemaPath): unknown => {
    const value = spelledMember(owner, key);
    if (VALUES.has(key)) return value;
    if (!isRounded(value)) return Reflect.get(owner, key);
    later(place, key);
    return key === 'multipleOf' ? undefined : outwards(value, key);
  };
  const isLeftOut = (owner: object, key: string, place: SchemaPath): boolean => {
    if (isExact || !Object.hasOwn(REVERSING, key)) return false;
    const value: unknown = Reflect.get(owner, key);
    const isOdd = refers(value) || holdsRounded(spelled(value));
    if (isOdd) later(place, key);
    return isOdd;
  };
  return new SpelledCopy(number, isLeftOut).of(schema, path);
}

/** The schema for the check, with a SpelledNumber wherever numbers are compared. */
export function withExactValues(schema: unknown): unknown {
  return new SpelledCopy(spelledMember, () => false).of(schema, '');
}

/** A bound tightened by rounding moves outwards by one double. */
function outwards({ spelling }: SpelledNumber, key: string): number {
  const rounded = Number(spelling);
  if (!Number.isFinite(rounded)) return rounded;
  const direction = key === 'minimum' || key === 'exclusiveMinimum' ? -1 : 1;
  const isTighter = compareExact(exactDouble(rounded), exactNumber(spelling)) * direction < 0;
  return isTighter ? neighbour(rounded, direction) : rounded;
}

function exactDouble(value: number): ExactNumber {
  const { whole, fraction } = toDecimal(value);
  return exactNumber(`${value < 0 ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`);
}

function refers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return '$ref' in value || '$dynamicRef' in value || Object.values(value).some(refers);
}

class SpelledCopy {
  readonly #number: (owner: object, key: string, path: SchemaPath) => unknown;
  readonly #isLeftOut: (owner: object, key: string, path: SchemaPath) => boolean;

  constructor(
    number: (owner: object, key: string, path: SchemaPath) => unknown,
    isLeftOut: (owner: object, key: string, path: SchemaPath) => boolean,
  ) {
    this.#number = number;
    this.#isLeftOut = isLeftOut;
  }

  of(schema: unknown, path: SchemaPath): unknown {
    if (Array.isArray(schema)) {
      const items = schema.map((item, index) => this.of(item, at(path, index)));
      return items.some((item, index) => item !== schema[index]) ? items : schema;
    }
    if (!isObject(schema)) return schema;
    const gone = Object.keys(schema).filter((key) => this.#isLeftOut(schema, key, path));
    const lost = new Set([...gone, ...gone.flatMap((key) => REVERSING[key] ?? [])]);
    const members = Object.keys(schema).map((key) => {
      return [key, lost.has(key) ? undefined : this.#member(schema, key, path)] as const;
    });
    if (members.every(([key, held]) => held === schema[key])) return schema;
    return keepSpellings(Object.fromEntries(members.filter(([, held]) => held !== undefined)), schema);
  }

  #member(schema: Schema, key: string, path: SchemaPath): unknown {
    const value = schema[key];
    const place = at(path, key);
    if (VALUES.has(key) || (BOUNDS.has(key) && typeof value === 'number'))
      return this.#number(schema, key, path);
    if (DATA_KEYWORDS.has(key)) return value;
    if (!NAMES.has(key) || !isObject(value)) return this.of(value, place);
    const entries = Object.entries(value);
    const held = entries.map(([name, each]) => [name, this.of(each, at(place, name))] as const);
    return held.some(([, each], index) => each !== entries[index]?.[1]) ? Object.fromEntries(held) : value;
  }
}

export function unspelled(value: unknown): unknown {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}

function isRounded(value: unknown): value is SpelledNumber {
  if (!(value instanceof SpelledNumber)) return false;
  const rounded = Number(value.spelling);
  if (!Number.isFinite(rounded)) return true;
  return exactKey(exactNumber(value.spelling)) !== exactKey(exactDouble(rounded));
}

export function holdsRounded(value: unknown): boolean {
  if (isRounded(value)) return true;
  if (typeof value !== 'object' || value === null || value instanceof SpelledNumber) return false;
  return Object.values(value).some(holdsRounded);
}
