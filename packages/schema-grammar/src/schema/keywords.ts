/**
 * schema-grammar/schema owns the interpretation of JSON Schema: keywords, references, merges, rewrites, budgets. It
 * does not know GBNF. This file: every known keyword, once. The compiler, the check of finished answers and
 * docs/schema-keywords.md derive from this table.
 */

/**
 * - `enforced`: by the grammar, always.
 * - `partly`: by the grammar in the forms that `how` names; in others, tools are relaxed and formats refused.
 * - `checked`: the grammar allows too much; the finished answer is checked.
 * - `annotation`: says nothing about validity.
 */
type Reach = 'enforced' | 'partly' | 'checked' | 'annotation';

/**
 * Kind of a keyword's value. `items`: a schema or a list of them; `bound`: a number or, in draft 4, a boolean; `any`:
 * never a schema.
 */
export type Shape =
  | 'any'
  | 'schema'
  | 'schemas'
  | 'items'
  | 'named'
  | 'type'
  | 'values'
  | 'names'
  | 'named names'
  | 'ref'
  | 'text'
  | 'pattern'
  | 'flag'
  | 'count'
  | 'number'
  | 'bound'
  | 'step';

interface KeywordRow {
  readonly reach: Reach;
  readonly value: Shape;
  /** Types that the keyword limits; without `type` a schema allows these. Absent: any value. */
  readonly of?: readonly string[];
  readonly how: string;
}

const OBJECT = ['object'];
const ARRAY = ['array'];
const STRING = ['string'];
const NUMBER = ['number', 'integer'];

export const KEYWORDS: Readonly<Record<string, KeywordRow>> = {
  type: {
    reach: 'enforced',
    value: 'type',
    how: 'one or a list; if absent, it is inferred from the other keywords, which is named as narrower',
  },
  enum: {
    reach: 'enforced',
    value: 'values',
    how: 'any JSON values, as they are spelled; values that other keywords forbid are left out',
  },
  const: { reach: 'enforced', value: 'any', how: 'as `enum`' },
  nullable: { reach: 'enforced', value: 'flag', how: 'as in OpenAPI 3.0' },
  $ref: {
    reach: 'partly',
    value: 'ref',
    how: 'inside the schema, by pointer, `$id` or anchor, recursion included; a pointer to `$defs` that leads nowhere from the root is tried from the schemas around it',
  },
  $dynamicRef: { reach: 'partly', value: 'ref', how: 'as `$ref`, if the schema has the anchor once' },
  $recursiveRef: { reach: 'partly', value: 'ref', how: 'to the root' },
  allOf: { reach: 'partly', value: 'schemas', how: 'if its parts can be merged into one schema' },
  anyOf: { reach: 'enforced', value: 'schemas', how: 'merged with the keywords next to it' },
  oneOf: {
    reach: 'partly',
    value: 'schemas',
    how: 'if the branches are disjoint, or can be made so: by type, constant, required or tagged properties',
  },
  not: {
    reach: 'partly',
    value: 'schema',
    how: 'of types, constants, required properties, limits, patterns, and combinations of these',
  },
  if: { reach: 'partly', value: 'schema', how: 'if `not` of it can be enforced' },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword's name
  then: { reach: 'partly', value: 'schema', how: 'with `if`' },
  else: { reach: 'partly', value: 'schema', how: 'with `if`' },
  properties: {
    reach: 'enforced',
    value: 'named',
    of: OBJECT,
    how: 'generated in the order of the schema; where it is silent on others, none are generated, which is named as narrower',
  },
  required: { reach: 'enforced', value: 'names', of: OBJECT, how: 'names of any kind' },
  additionalProperties: {
    reach: 'enforced',
    value: 'schema',
    of: OBJECT,
    how: '`false`, `true` or a schema; further keys, of any characters, follow the declared ones',
  },
  patternProperties: {
    reach: 'partly',
    value: 'named',
    of: OBJECT,
    how: 'if `pattern` could enforce its names',
  },
  propertyNames: { reach: 'partly', value: 'schema', of: OBJECT, how: 'if its schema is of strings' },
  minProperties: {
    reach: 'partly',
    value: 'count',
    of: OBJECT,
    how: 'if declared properties suffice, and 1 on plain maps',
  },
  maxProperties: {
    reach: 'partly',
    value: 'count',
    of: OBJECT,
    how: 'for up to 200 declared properties, and up to 100 others',
  },
  dependentRequired: { reach: 'partly', value: 'named names', of: OBJECT, how: 'for up to 6 properties' },
  dependentSchemas: { reach: 'partly', value: 'named', of: OBJECT, how: 'for up to 6 properties' },
  dependencies: { reach: 'partly', value: 'named', of: OBJECT, how: 'draft 7, as the two above' },
  unevaluatedProperties: {
    reach: 'partly',
    value: 'schema',
    of: OBJECT,
    how: 'as `additionalProperties` of the merged schema',
  },
  items: { reach: 'enforced', value: 'items', of: ARRAY, how: "also draft 7's list, with `additionalItems`" },
  prefixItems: {
    reach: 'enforced',
    value: 'schemas',
    of: ARRAY,
    how: 'a tuple that says nothing of further items is closed, which is named as narrower',
  },
  additionalItems: { reach: 'enforced', value: 'schema', of: ARRAY, how: 'draft 7' },
  minItems: { reach: 'partly', value: 'count', of: ARRAY, how: 'up to 20000' },
  maxItems: {
    reach: 'partly',
    value: 'count',
    of: ARRAY,
    how: 'up to 20000; above, it is left to the check',
  },
  uniqueItems: {
    reach: 'checked',
    value: 'flag',
    of: ARRAY,
    how: 'exact where at most one item is possible',
  },
  contains: {
    reach: 'partly',
    value: 'schema',
    of: ARRAY,
    how: 'at any place; with a tuple or a length, the first items are of its schema, which is named as narrower',
  },
  minContains: { reach: 'partly', value: 'count', of: ARRAY, how: 'with `contains`' },
  maxContains: {
    reach: 'partly',
    value: 'count',
    of: ARRAY,
    how: 'if `not` of `contains` can be enforced; up to 100',
  },
  unevaluatedItems: { reach: 'partly', value: 'schema', of: ARRAY, how: 'as `items` of the merged schema' },
  minLength: { reach: 'partly', value: 'count', of: STRING, how: 'in code points, up to 20000' },
  maxLength: {
    reach: 'partly',
    value: 'count',
    of: STRING,
    how: 'in code points; above 20000, and with a pattern that it makes too large, it is left to the check',
  },
  pattern: {
    reach: 'partly',
    value: 'pattern',
    of: STRING,
    how: 'without back-references and word boundaries; together with lengths and `format` if both stay small',
  },
  format: { reach: 'partly', value: 'text', of: STRING, how: 'the formats below' },
  minimum: {
    reach: 'enforced',
    value: 'number',
    of: NUMBER,
    how: 'with any number of digits; with an exponent for up to three digits before the point',
  },
  maximum: { reach: 'enforced', value: 'number', of: NUMBER, how: 'as `minimum`' },
  exclusiveMinimum: { reach: 'enforced', value: 'bound', of: NUMBER, how: "also draft 4's `true`" },
  exclusiveMaximum: { reach: 'enforced', value: 'bound', of: NUMBER, how: "also draft 4's `true`" },
  multipleOf: {
    reach: 'partly',
    value: 'step',
    of: NUMBER,
    how: 'fractions that divide 1; integers up to 200 and powers of ten, between bounds if few remain; others only between bounds, if few remain',
  },
  $id: { reach: 'annotation', value: 'any', how: 'names what `$ref` refers to' },
  id: { reach: 'annotation', value: 'any', how: 'draft 4, as `$id`' },
  $anchor: { reach: 'annotation', value: 'any', how: 'names what `$ref` refers to' },
  $dynamicAnchor: { reach: 'annotation', value: 'any', how: 'names what `$dynamicRef` refers to' },
  $recursiveAnchor: { reach: 'annotation', value: 'any', how: 'draft 2019-09' },
  $vocabulary: { reach: 'annotation', value: 'any', how: 'of meta-schemas' },
  $defs: { reach: 'annotation', value: 'named', how: '' },
  definitions: { reach: 'annotation', value: 'named', how: '' },
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
      'discriminator',
      'externalDocs',
      'xml',
    ].map((name) => [name, { reach: 'annotation', value: 'any', how: '' } as const]),
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

export function isAssertion(key: string): boolean {
  return isKnown(key) && !isAnnotation(key);
}

export function keywordsOfType(type: string): readonly string[] {
  return Object.entries(KEYWORDS).flatMap(([key, { of }]) => (of?.includes(type) ? [key] : []));
}
