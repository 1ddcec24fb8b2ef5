/** Values of a schema as its client spelled them, and the bounds whose digits a JavaScript number loses. */
import { keepSpellings, SpelledNumber, spelledMember } from '../../json/spelled-numbers.ts';
import { DATA_KEYWORDS } from './keywords.ts';
import { at, isObject, type SchemaPath } from './schema-walk.ts';

const VALUES = new Set(['const', 'enum']);
const BOUNDS = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']);
/** Keywords whose members have names of the client's choice. */
const NAMES = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

type Inexact = (path: SchemaPath, keyword: string) => void;

/** The schema with a SpelledNumber in `const` and `enum`; `inexact` hears of each bound that is rounded. */
export function withSpelledValues(schema: unknown, path: SchemaPath, inexact: Inexact): unknown {
  if (Array.isArray(schema)) {
    const items = schema.map((item, index) => withSpelledValues(item, at(path, index), inexact));
    return items.some((item, index) => item !== schema[index]) ? items : schema;
  }
  if (!isObject(schema)) return schema;
  let copy: Record<string, unknown> | null = null;
  for (const [key, value] of Object.entries(schema)) {
    const held = memberOf(schema, key, at(path, key), inexact);
    if (BOUNDS.has(key) && isRounded(spelledMember(schema, key))) inexact(path, key);
    if (held === value) continue;
    copy ??= keepSpellings(Object.fromEntries(Object.entries(schema)), schema);
    Object.defineProperty(copy, key, { value: held, enumerable: true, writable: true, configurable: true });
  }
  return copy ?? schema;
}

function memberOf(schema: object, key: string, path: SchemaPath, inexact: Inexact): unknown {
  if (VALUES.has(key)) return spelledMember(schema, key);
  const value: unknown = Reflect.get(schema, key);
  if (DATA_KEYWORDS.has(key)) return value;
  if (!NAMES.has(key) || !isObject(value)) return withSpelledValues(value, path, inexact);
  const entries = Object.entries(value);
  const held = entries.map(
    ([name, each]) => [name, withSpelledValues(each, at(path, name), inexact)] as const,
  );
  return held.some(([, each], index) => each !== entries[index]?.[1]) ? Object.fromEntries(held) : value;
}

/** The values as JavaScript numbers. */
export function unspelled(value: unknown): unknown {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}

function isRounded(value: unknown): boolean {
  return (
    value instanceof SpelledNumber && digitsOf(value.spelling) !== digitsOf(String(Number(value.spelling)))
  );
}

/** The same for every spelling of one number. */
function digitsOf(spelling: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(spelling) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  return `${sign}${short}e${Number(exponent) - fraction.length + digits.length - short.length}`;
}
