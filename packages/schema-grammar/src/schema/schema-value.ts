/** Validates a value against a schema, as far as possible without following references. */
import { linearMatcher } from '../pattern/pattern-match.ts';
import { isMultiple } from '../number/decimal.ts';
import { formatPattern, FREE_FORMATS, integerBounds } from '../string-formats.ts';
import { isAnnotation } from './keywords.ts';
import { type Also, ALSO } from './schema-merge.ts';
import { modernised } from './schema-rewrite.ts';
import { isObject, type Schema } from './schema-walk.ts';

type Verdict = boolean | null;
type Test = (limit: unknown, value: unknown, schema: Schema) => Verdict;

export function accepts(schema: unknown, value: unknown): Verdict {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return null;
  const modern = modernised(schema);
  const verdicts = Object.keys(modern).map((key): Verdict => {
    if (isAnnotation(key) || modern[key] === undefined) return true;
    return TESTS[key]?.(modern[key], value, modern) ?? null;
  });
  return every(verdicts);
}

function isOfType(value: unknown, type: string): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function sameJson(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

function every(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes(false)) return false;
  return verdicts.includes(null) ? null : true;
}

function some(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes(true)) return true;
  return verdicts.includes(null) ? null : false;
}

const negated = (verdict: Verdict): Verdict => (verdict === null ? null : !verdict);
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const onNumber = (holds: (limit: number, value: number) => boolean): Test => {
  return (limit, value) =>
    typeof value === 'number' && typeof limit === 'number' ? holds(limit, value) : true;
};
const onString = (holds: (limit: never, value: string) => Verdict): Test => {
  return (limit, value) => (typeof value === 'string' ? holds(limit as never, value) : true);
};
const onArray = (holds: (limit: never, value: readonly unknown[], schema: Schema) => Verdict): Test => {
  return (limit, value, schema) => (Array.isArray(value) ? holds(limit as never, value, schema) : true);
};
const onObject = (holds: (limit: never, value: Schema, schema: Schema) => Verdict): Test => {
  return (limit, value, schema) => (isObject(value) ? holds(limit as never, value, schema) : true);
};

const TESTS: Readonly<Record<string, Test>> = {
  type: (types, value) => [types].flat().some((type) => isOfType(value, String(type))),
  enum: (values, value) => asList(values).some((item) => sameJson(item, value)),
  const: (constant, value) => sameJson(constant, value),
  nullable: () => true,
  allOf: (parts, value) => every(asList(parts).map((part) => accepts(part, value))),
  anyOf: (parts, value) => some(asList(parts).map((part) => accepts(part, value))),
  oneOf: (parts, value) => {
    const verdicts = asList(parts).map((part) => accepts(part, value));
    return verdicts.includes(null) ? null : verdicts.filter(Boolean).length === 1;
  },
  not: (schema, value) => negated(accepts(schema, value)),
  minimum: onNumber((limit, value) => value >= limit),
  maximum: onNumber((limit, value) => value <= limit),
  exclusiveMinimum: onNumber((limit, value) => value > limit),
  exclusiveMaximum: onNumber((limit, value) => value < limit),
  multipleOf: onNumber((limit, value) => isMultiple(value, limit)),
  minLength: onString((limit: number, value) => [...value].length >= limit),
  maxLength: onString((limit: number, value) => [...value].length <= limit),
  pattern: onString((source: string, value) => matches(source, value)),
  format: (format, value) => formatHolds(String(format), value),
  [ALSO]: (also: unknown, value) => every((also as readonly Also[]).map((item) => alsoHolds(item, value))),
  minItems: onArray((limit: number, value) => value.length >= limit),
  maxItems: onArray((limit: number, value) => value.length <= limit),
  items: onArray((item, value, schema) =>
    every(value.slice(asList(schema['prefixItems']).length).map((one) => accepts(item, one))),
  ),
  prefixItems: onArray((items: readonly unknown[], value) =>
    every(items.slice(0, value.length).map((item, index) => accepts(item, value[index]))),
  ),
  uniqueItems: onArray((unique, value) => !unique || new Set(value.map(sorted)).size === value.length),
  required: onObject((names: readonly string[], value) => names.every((name) => Object.hasOwn(value, name))),
  properties: onObject((properties: Schema, value) =>
    every(
      Object.entries(properties).map(([name, schema]) =>
        Object.hasOwn(value, name) ? accepts(schema, value[name]) : true,
      ),
    ),
  ),
  additionalProperties: onObject((rest, value, schema) => {
    if (schema['patternProperties'] !== undefined) return null;
    const declared = (schema['properties'] ?? {}) as Schema;
    const others = Object.keys(value).filter((name) => !Object.hasOwn(declared, name));
    return every(others.map((name) => accepts(rest, value[name])));
  }),
  propertyNames: onObject((names, value) => every(Object.keys(value).map((name) => accepts(names, name)))),
  minProperties: onObject((limit: number, value) => Object.keys(value).length >= limit),
  maxProperties: onObject((limit: number, value) => Object.keys(value).length <= limit),
};

function formatHolds(format: string, value: unknown): Verdict {
  const [low, high] = integerBounds(format) ?? [-Infinity, Infinity];
  if (typeof value === 'number')
    return integerBounds(format) === null || (Number.isInteger(value) && value >= low && value <= high);
  if (
    typeof value !== 'string' ||
    FREE_FORMATS.has(format) ||
    format === 'regex' ||
    integerBounds(format) !== null
  )
    return true;
  const source = formatPattern(format);
  return source === null ? null : matches(source, value);
}

function alsoHolds(also: Also, value: unknown): Verdict {
  if ('fraction' in also) return !Number.isInteger(value);
  if ('not' in also) return !also.not.some((item) => sameJson(item, value));
  if (typeof value !== 'string') return true;
  if ('format' in also) return accepts({ format: also.format }, value);
  const found = matches(also.pattern, value);
  return also.negated ? negated(found) : found;
}

function matches(source: string, text: string): Verdict {
  try {
    return linearMatcher(source).test(text);
  } catch {
    return null;
  }
}
