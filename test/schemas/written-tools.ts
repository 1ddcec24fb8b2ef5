/** Tools in the shapes that servers of agents have: every keyword that has refused one, in combinations. */
type Schema = Readonly<Record<string, unknown>>;

/** What a single property looks like. */
const properties: readonly Schema[] = [
  { type: 'string', description: 'Plain.' },
  { type: 'string', minLength: 1, maxLength: 65_536 },
  { type: 'string', pattern: '^[\\w.-]+/[\\w.-]+$' },
  { type: 'string', pattern: '^(?!\\s*$).+' },
  { type: 'string', pattern: '\\bTODO\\b' },
  { type: 'string', pattern: '^(\\w+)\\1$' },
  { type: 'string', format: 'uri' },
  { type: 'string', format: 'file-uri' },
  { type: 'string', format: 'date-time', pattern: 'Z$' },
  { type: 'string', enum: ['open', 'closed', ''], default: 'open' },
  { type: 'string', enumNames: ['One'], enum: ['1'] },
  { type: ['string', 'null'] },
  { type: 'string', nullable: true, examples: ['x'] },
  { type: 'integer', minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 },
  { type: 'integer', minimum: 0, exclusiveMinimum: true },
  { type: 'integer', format: 'int64', multipleOf: 7 },
  { type: 'number', multipleOf: 0.01, minimum: 0 },
  { type: 'number', multipleOf: 1.7 },
  { type: 'boolean', strict: true },
  { type: 'array', items: { type: 'string' }, uniqueItems: true },
  { type: 'array', items: [{ type: 'integer' }, { type: 'string' }], additionalItems: false },
  { type: 'array', contains: { const: 'a' }, maxContains: 2 },
  { type: 'array' },
  { type: 'object', additionalProperties: {}, propertyNames: { type: 'string' } },
  { type: 'object', propertyNames: { pattern: '^[a-z_]+$' }, additionalProperties: { type: 'integer' } },
  { type: 'object', patternProperties: { '^x-': { type: 'string' }, '^y-': { type: 'integer' } } },
  { type: 'object', patternProperties: { '(?<=a)b': {} }, additionalProperties: false },
  { type: 'object', minProperties: 2, additionalProperties: { type: 'string' } },
  { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  { oneOf: [{ type: 'integer' }, { type: 'number' }] },
  { oneOf: [{ required: ['id'] }, { required: ['name'] }], properties: { id: {}, name: {} }, type: 'object' },
  { not: { type: 'null' } },
  { not: { patternProperties: { a: {} } } },
  { const: { k: [1] } },
  { $ref: '#/$defs/shared' },
  { $ref: 'https://example.org/schema.json' },
  { allOf: [{ $ref: '#/$defs/shared' }, { description: 'Again.' }] },
  {},
  { title: 'Anything', 'x-order': 3, colour: 'red' },
];

/** What a whole set of arguments asks beside its properties. */
const wholes: readonly Schema[] = [
  {},
  { additionalProperties: false },
  { additionalProperties: true, $schema: 'http://json-schema.org/draft-07/schema#' },
  { $id: 'https://example.org/tool', unevaluatedProperties: false },
  { dependentRequired: { p0: ['p1'] } },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword's name
  { if: { properties: { p0: { const: 'open' } } }, then: { required: ['p1'] } },
  { dependencies: { p0: { required: ['p1'] } }, maxProperties: 3 },
  { minProperties: 1, patternProperties: { '^opt_': { type: 'string' } } },
  { allOf: [{ properties: { p0: {} } }, { not: { required: ['p0', 'p1', 'p2'] } }] },
];

const shared = { type: 'object', properties: { next: { $ref: '#/$defs/shared' }, id: { type: 'integer' } } };

/** Each property beside the next two, in each kind of whole. */
export function writtenTools(): Schema[] {
  return wholes.flatMap((whole) =>
    properties.map((_, index) => ({
      type: 'object',
      ...whole,
      properties: Object.fromEntries(
        [0, 1, 2].map((at) => [`p${at}`, properties[(index + at) % properties.length]]),
      ),
      required: index % 2 === 0 ? ['p0'] : [],
      $defs: { shared },
    })),
  );
}
