/**
 * lib/grammar/schema owns the reading of JSON Schema: keywords, references, merges, rewrites, budgets. It does not know
 * how a value is written as a grammar.
 * This file: every keyword that Hearth knows, once. The compiler, the check of finished answers and
 * docs/schema-keywords.md derive from this table.
 */

/**
 * - `enforced`: by the grammar, always.
 * - `partly`: by the grammar in the forms that `how` names; in others, tools are relaxed and formats refused.
 * - `checked`: the grammar allows too much; the finished answer is checked.
 * - `annotation`: says nothing about validity.
 */
export type Reach = 'enforced' | 'partly' | 'checked' | 'annotation';

export interface KeywordRow {
  readonly reach: Reach;
  /** Types that the keyword limits; a schema without `type` allows these. Absent: it speaks of any value. */
  readonly of?: readonly string[];
  /** For the documentation. */
  readonly how: string;
}

const OBJECT = ['object'];
const ARRAY = ['array'];
const STRING = ['string'];
const NUMBER = ['number', 'integer'];

export const KEYWORDS: Readonly<Record<string, KeywordRow>> = {
  type: {
    reach: 'enforced',
    how: 'one or a list; if absent, it is inferred from the other keywords, which is named as narrower',
  },
  enum: { reach: 'enforced', how: 'any JSON values; values that other keywords forbid are left out' },
  const: { reach: 'enforced', how: 'as `enum`' },
  nullable: { reach: 'enforced', how: 'as in OpenAPI 3.0' },
  $ref: { reach: 'partly', how: 'inside the schema, by pointer, `$id` or anchor, recursion included' },
  $dynamicRef: { reach: 'partly', how: 'as `$ref`, if the schema has the anchor once' },
  $recursiveRef: { reach: 'partly', how: 'to the root' },
  allOf: { reach: 'partly', how: 'if its parts can be merged into one schema' },
  anyOf: { reach: 'enforced', how: 'merged with the keywords beside it' },
  oneOf: {
    reach: 'partly',
    how: 'if the branches are disjoint, or can be made so: by type, constant, required or tagged properties',
  },
  not: {
    reach: 'partly',
    how: 'of types, constants, required properties, limits, patterns, and combinations of these',
  },
  if: { reach: 'partly', how: 'if `not` of it can be enforced' },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword's name
  then: { reach: 'partly', how: 'with `if`' },
  else: { reach: 'partly', how: 'with `if`' },
  properties: {
    reach: 'enforced',
    of: OBJECT,
    how: 'generated in the order of the schema; where it is silent on others, none are generated, which is named as narrower',
  },
  required: { reach: 'enforced', of: OBJECT, how: 'names of any kind' },
  additionalProperties: {
    reach: 'enforced',
    of: OBJECT,
    how: '`false`, `true` or a schema; further keys, of any characters, follow the declared ones',
  },
  patternProperties: { reach: 'partly', of: OBJECT, how: 'if `pattern` could enforce its names' },
  propertyNames: { reach: 'partly', of: OBJECT, how: 'if its schema is of strings' },
  minProperties: {
    reach: 'partly',
    of: OBJECT,
    how: 'if declared properties suffice, and 1 on plain maps',
  },
  maxProperties: {
    reach: 'partly',
    of: OBJECT,
    how: 'for up to 200 declared properties, and up to 100 others',
  },
  dependentRequired: { reach: 'partly', of: OBJECT, how: 'for up to 6 properties' },
  dependentSchemas: { reach: 'partly', of: OBJECT, how: 'for up to 6 properties' },
  dependencies: { reach: 'partly', of: OBJECT, how: 'draft 7, as the two above' },
  unevaluatedProperties: {
    reach: 'partly',
    of: OBJECT,
    how: 'as `additionalProperties` of the merged schema',
  },
  items: { reach: 'enforced', of: ARRAY, how: "also draft 7's list, with `additionalItems`" },
  prefixItems: {
    reach: 'enforced',
    of: ARRAY,
    how: 'a tuple that says nothing of further items is closed, which is named as narrower',
  },
  additionalItems: { reach: 'enforced', of: ARRAY, how: 'draft 7' },
  minItems: { reach: 'partly', of: ARRAY, how: 'up to 20000' },
  maxItems: { reach: 'partly', of: ARRAY, how: 'up to 20000; above, it is left to the check' },
  uniqueItems: { reach: 'checked', of: ARRAY, how: 'exact where at most one item is possible' },
  contains: {
    reach: 'partly',
    of: ARRAY,
    how: 'at any place; beside a tuple or a length the first items are of its schema, which is named as narrower',
  },
  minContains: { reach: 'partly', of: ARRAY, how: 'with `contains`' },
  maxContains: { reach: 'partly', of: ARRAY, how: 'if `not` of `contains` can be enforced; up to 100' },
  unevaluatedItems: { reach: 'partly', of: ARRAY, how: 'as `items` of the merged schema' },
  minLength: { reach: 'partly', of: STRING, how: 'in code points, up to 20000' },
  maxLength: {
    reach: 'partly',
    of: STRING,
    how: 'in code points; above 20000, and beside a pattern that it makes too large, it is left to the check',
  },
  pattern: {
    reach: 'partly',
    of: STRING,
    how: 'without back-references and word boundaries; beside lengths and `format` if both together stay small',
  },
  format: { reach: 'partly', of: STRING, how: 'the formats below' },
  minimum: {
    reach: 'enforced',
    of: NUMBER,
    how: 'with any number of digits; with an exponent for up to three digits before the point',
  },
  maximum: { reach: 'enforced', of: NUMBER, how: 'as `minimum`' },
  exclusiveMinimum: { reach: 'enforced', of: NUMBER, how: "also draft 4's `true`" },
  exclusiveMaximum: { reach: 'enforced', of: NUMBER, how: "also draft 4's `true`" },
  multipleOf: {
    reach: 'partly',
    of: NUMBER,
    how: 'fractions that divide 1; integers up to 200 and powers of ten, between bounds if few remain; others only between bounds, if few remain',
  },
  $id: { reach: 'annotation', how: 'names what `$ref` refers to' },
  id: { reach: 'annotation', how: 'draft 4, as `$id`' },
  $anchor: { reach: 'annotation', how: 'names what `$ref` refers to' },
  $dynamicAnchor: { reach: 'annotation', how: 'names what `$dynamicRef` refers to' },
  $recursiveAnchor: { reach: 'annotation', how: 'draft 2019-09' },
  $vocabulary: { reach: 'annotation', how: 'of meta-schemas' },
  ...Object.fromEntries(
    [
      'title',
      'description',
      'default',
      'example',
      'examples',
      '$comment',
      '$schema',
      'deprecated',
      'readOnly',
      'writeOnly',
      'contentEncoding',
      'contentMediaType',
      'contentSchema',
      '$defs',
      'definitions',
      'discriminator',
      'externalDocs',
      'xml',
    ].map((name) => [name, { reach: 'annotation', how: '' } as const]),
  ),
};

export const JSON_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;

/** Keywords whose value is data, never a schema. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  'enum',
  'const',
  'required',
  'type',
  'default',
  'example',
  'examples',
  'dependentRequired',
]);

export function isKnown(key: string): boolean {
  return Object.hasOwn(KEYWORDS, key);
}

export function isAnnotation(key: string): boolean {
  return (isKnown(key) && KEYWORDS[key]?.reach === 'annotation') || key.startsWith('x-');
}

/** Whether it says something of a value's validity. */
export function isAssertion(key: string): boolean {
  return isKnown(key) && !isAnnotation(key);
}

export function keywordsOfType(type: string): readonly string[] {
  return Object.entries(KEYWORDS).flatMap(([key, { of }]) => (of?.includes(type) ? [key] : []));
}
