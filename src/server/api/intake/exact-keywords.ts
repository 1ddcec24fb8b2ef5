/**
 * Keywords about numbers and equal values, exact where ajv compares doubles: ajv would take 9007199254740993 for the
 * number before it, and 0.07 for no multiple of 0.01. Limits and values may be SpelledNumbers; the answer is read
 * with spellings.
 */
import type { Ajv2020, FuncKeywordDefinition } from 'ajv/dist/2020.js';
import {
  compareExact,
  exactKey,
  type ExactNumber,
  exactNumber,
  isExactInteger,
  isExactMultiple,
} from '../../../../packages/exact-json/src/exact-number.ts';
import { SpelledNumber, spelledMember } from '../../../lib/json/spelled-numbers.ts';
import { exactBounds, INTEGER_FORMATS } from '../../../../packages/schema-grammar/src/string-formats.ts';

type Compiled = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>;
type Context = Parameters<Compiled>[1];
type Judge = (given: ExactNumber) => string | null;

export const WHOLE = 'wholeNumber';
export const INTEGER_FORMAT = 'integerFormat';

export function addExactKeywords(ajv: Ajv2020): void {
  bound(ajv, 'minimum', '>=', (order) => order >= 0);
  bound(ajv, 'exclusiveMinimum', '>', (order) => order > 0);
  bound(ajv, 'maximum', '<=', (order) => order <= 0);
  bound(ajv, 'exclusiveMaximum', '<', (order) => order < 0);
  onNumbers(ajv, 'multipleOf', (step) => {
    const exactStep = readLimit('multipleOf', step);
    return (given) => (isExactMultiple(given, exactStep) ? null : 'is no multiple of "multipleOf"');
  });
  onNumbers(ajv, WHOLE, () => (given) => (isExactInteger(given) ? null : 'must be integer'));
  onNumbers(ajv, INTEGER_FORMAT, (format) => {
    const [low, high] = exactBounds(String(format)).map((limit) => exactNumber(String(limit)));
    return (given) => {
      const isInside = low && high && compareExact(given, low) >= 0 && compareExact(given, high) <= 0;
      return isInside && isExactInteger(given) ? null : `must match format "${String(format)}"`;
    };
  });
  ajv.removeKeyword('const');
  ajv.removeKeyword('enum');
  ajv.removeKeyword('uniqueItems');
  const memberCheck = (values: readonly unknown[], message: string): Compiled => {
    const keys = new Set(values.map(equalityKey));
    const hasContainer = values.some(isContainer);
    return judging((value, context) => {
      if (isContainer(value) && !hasContainer) return message;
      return keys.has(equalityKey(spelledValue(value, context))) ? null : message;
    });
  };
  ajv.addKeyword({
    keyword: 'const',
    compile: (value: unknown) => memberCheck([value], 'must be equal to constant'),
  });
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: (values: readonly unknown[]) =>
      memberCheck(values, 'must be equal to one of the allowed values'),
  });
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isOn: unknown) =>
      judging((items) => {
        if (isOn !== true || !Array.isArray(items)) return null;
        const keys = new Set(items.map((_, at) => equalityKey(spelledMember(items, at))));
        return keys.size === items.length ? null : 'must NOT have duplicate items';
      }),
  });
}

function bound(ajv: Ajv2020, keyword: string, sign: string, holds: (order: number) => boolean): void {
  onNumbers(ajv, keyword, (limit) => {
    const exactLimit = readLimit(keyword, limit);
    return (given) =>
      holds(compareExact(given, exactLimit))
        ? null
        : `must be ${sign} ${limit instanceof SpelledNumber ? limit.spelling : String(limit)}`;
  });
}

function onNumbers(ajv: Ajv2020, keyword: string, makeJudge: (schema: unknown) => Judge): void {
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword,
    type: 'number',
    compile: (schema: unknown) => {
      const judge = makeJudge(schema);
      return judging((value, context) => {
        const spelled = spelledValue(value, context);
        if (typeof spelled === 'number' && !Number.isFinite(spelled)) return 'must be a number';
        return judge(toExact(spelled));
      });
    },
  });
}

function judging(findProblem: (value: unknown, context: Context) => string | null): Compiled {
  const validate: Compiled = (value: unknown, context) => {
    const message = findProblem(value, context);
    if (message !== null) validate.errors = [{ message }];
    return message === null;
  };
  return validate;
}

function spelledValue(value: unknown, context: Context): unknown {
  const { parentData, parentDataProperty } = context ?? {};
  const isMember = typeof parentData === 'object' && parentData !== null && parentDataProperty !== undefined;
  // For the name of a property the parent is the object too.
  return isMember && Reflect.get(parentData, parentDataProperty) === value
    ? spelledMember(parentData, parentDataProperty)
    : value;
}

function readLimit(keyword: string, limit: unknown): ExactNumber {
  if (typeof limit === 'number' || limit instanceof SpelledNumber) return toExact(limit);
  throw new Error(`${keyword} must be number`);
}

function toExact(value: unknown): ExactNumber {
  return exactNumber(value instanceof SpelledNumber ? value.spelling : String(value));
}

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof SpelledNumber);

function equalityKey(value: unknown): string {
  if (typeof value === 'number' || value instanceof SpelledNumber) return exactKey(toExact(value));
  if (Array.isArray(value)) return `[${value.map(equalityKey).join(',')}]`;
  if (!isContainer(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${equalityKey(member)}`,
  );
  return `{${members.sort().join(',')}}`;
}

export const isIntegerFormat = (format: unknown): boolean =>
  typeof format === 'string' && Object.hasOwn(INTEGER_FORMATS, format);
