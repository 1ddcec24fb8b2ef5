/** Schemas of tools as servers of other people send them, each with a part that cannot be read. */

export interface OddSchema {
  readonly what: string;
  readonly parameters: unknown;
  /** How `X-Svc-Relaxed` names the part, behind the name of the tool. */
  readonly named: readonly string[];
  /** Arguments that the rest of the schema allows. */
  readonly allowed: Readonly<Record<string, unknown>>;
  /** Arguments that the rest of the schema still forbids. */
  readonly forbidden?: Readonly<Record<string, unknown>>;
}

/** The part is the property `a`; beside it stands one that can be read. */
function ofProperty(
  what: string,
  a: unknown,
  named: readonly string[],
  value: unknown,
  notValue?: unknown,
): OddSchema {
  return {
    what,
    parameters: {
      type: 'object',
      properties: { a, n: { type: 'integer' } },
      required: ['a'],
      additionalProperties: false,
    },
    named: named.map((name) => `#/properties/${name}`),
    allowed: { a: value, n: 1 },
    forbidden: notValue === undefined ? { a: value, n: 'one' } : { a: notValue },
  };
}

export const ODD_SCHEMAS: readonly OddSchema[] = [
  ofProperty('a name of a type in place of a schema', 'object', ['a'], { any: [1, 'x'] }),
  ofProperty('a list in place of a schema', [], ['a'], 'x'),
  ofProperty('null in place of a schema', null, ['a'], 'x'),
  ofProperty('a type that JSON does not have', { type: 'int' }, ['a/type'], 7),
  ofProperty('a type in capitals', { type: 'STRING' }, ['a/type'], 'x'),
  ofProperty('a list of types with an odd one', { type: ['string', 'None'] }, ['a/type'], 'x'),
  ofProperty('an empty list of types', { type: [] }, ['a/type'], 'x'),
  ofProperty('a pattern that is none', { type: 'string', pattern: '^(unclosed$' }, ['a/pattern'], 'x', 1),
  ofProperty('a pattern that is a number', { type: 'string', pattern: 5 }, ['a/pattern'], 'x', 1),
  ofProperty('a reference to nothing', { $ref: '#/$defs/Gone' }, ['a/$ref'], { any: 1 }),
  ofProperty('a reference to another file', { $ref: 'common.json#/F' }, ['a/$ref'], 'x'),
  ofProperty('a reference to a text', { $ref: '#/type' }, ['a/$ref'], 'x'),
  ofProperty('a reference that is a number', { $ref: 5 }, ['a/$ref'], 'x'),
  ofProperty('a reference with a stray percent sign', { $ref: '#/$defs/100%' }, ['a/$ref'], 'x'),
  ofProperty('a reference to itself', { $ref: '#/properties/a' }, ['a/$ref'], 'x'),
  ofProperty(
    'an unknown keyword of an odd type',
    { type: 'string', colour: { type: 3 } },
    ['a/colour/type', 'a/colour'],
    'x',
    1,
  ),
  ofProperty('a length that is a text', { type: 'string', minLength: '3' }, ['a/minLength'], 'x', 1),
  ofProperty('a negative length', { type: 'string', maxLength: -1 }, ['a/maxLength'], 'x', 1),
  ofProperty('a bound that is a text', { type: 'number', minimum: 'low' }, ['a/minimum'], 3, 'x'),
  ofProperty(
    'keywords that are null',
    { type: 'number', minimum: null, enum: null },
    ['a/minimum', 'a/enum'],
    3,
    'x',
  ),
  ofProperty('a step of zero', { type: 'number', multipleOf: 0 }, ['a/multipleOf'], 3, 'x'),
  ofProperty('an enum without values', { type: 'string', enum: [] }, ['a/enum'], 'x', 1),
  ofProperty('an enum that is a text', { type: 'string', enum: 'x' }, ['a/enum'], 'y', 1),
  ofProperty('required as a flag', { type: 'object', required: true }, ['a/required'], { b: 1 }, 1),
  ofProperty('required as a text', { type: 'object', required: 'b' }, ['a/required'], { c: 1 }, 1),
  ofProperty(
    'properties as a list, in a closed object',
    { type: 'object', properties: [], additionalProperties: false },
    ['a/properties', 'a/additionalProperties'],
    { b: 1 },
    1,
  ),
  ofProperty(
    'a broken pattern of names, in a closed object',
    { type: 'object', patternProperties: { '(': {} }, additionalProperties: false },
    ['a/patternProperties/(', 'a/additionalProperties'],
    { b: 1 },
    1,
  ),
  ofProperty(
    'additionalProperties as a text',
    { type: 'object', additionalProperties: 'no' },
    ['a/additionalProperties'],
    { b: 1 },
    1,
  ),
  ofProperty('items as a text', { type: 'array', items: 'string' }, ['a/items'], [1, 'x'], 1),
  ofProperty(
    'items of an odd type',
    { type: 'array', items: { type: 'str' } },
    ['a/items/type'],
    [1, 'x'],
    1,
  ),
  ofProperty(
    'a tuple with a text in it',
    { type: 'array', prefixItems: ['x', { type: 'integer' }] },
    ['a/prefixItems/0'],
    ['x', 2],
    ['x', 'y'],
  ),
  ofProperty(
    'a tuple that is a text',
    { type: 'array', prefixItems: 'x', items: false },
    ['a/prefixItems', 'a/items'],
    [1],
    1,
  ),
  ofProperty(
    'uniqueItems as a text',
    { type: 'array', items: { type: 'integer' }, uniqueItems: 'yes' },
    ['a/uniqueItems'],
    [1, 1],
    ['x'],
  ),
  ofProperty(
    'an alternative that is a text',
    { anyOf: ['string', { type: 'integer' }] },
    ['a/anyOf/0', 'a/anyOf'],
    'x',
  ),
  ofProperty('no alternatives', { anyOf: [] }, ['a/anyOf'], 'x'),
  ofProperty(
    'an exclusive alternative of an odd type',
    { oneOf: [{ type: 'int' }, { type: 'string' }] },
    ['a/oneOf/0/type', 'a/oneOf'],
    'x',
  ),
  ofProperty('a part that is a text', { allOf: ['x', { type: 'integer' }] }, ['a/allOf/0'], 2, 'x'),
  ofProperty('not an odd type', { type: 'string', not: { type: 'int' } }, ['a/not/type', 'a/not'], 'x', 1),
  ofProperty(
    'a condition of an odd type',
    // oxlint-disable-next-line unicorn/no-thenable -- the keyword's name
    { type: 'string', if: { type: 'int' }, then: false },
    ['a/if/type', 'a/if'],
    'x',
    1,
  ),
  ofProperty('contains as a text', { type: 'array', contains: 'x' }, ['a/contains'], [2], 1),
  ofProperty('a format that is a number', { type: 'string', format: 5 }, ['a/format'], 'x', 1),
  ofProperty(
    'values of another type than its own',
    { type: 'integer', enum: ['1', '2'] },
    ['a/enum'],
    7,
    'x',
  ),
  { what: 'arguments as a text', parameters: 'object', named: ['#/allOf/0'], allowed: { a: 1 } },
  { what: 'arguments as a list', parameters: [], named: ['#/allOf/0'], allowed: { a: 1 } },
  {
    what: 'arguments of a type in capitals',
    parameters: { type: 'OBJECT', properties: { n: { type: 'integer' } } },
    named: ['#/allOf/0/type'],
    allowed: { n: 1 },
    forbidden: { n: 'one' },
  },
  {
    what: 'arguments that are a string',
    parameters: { type: 'string' },
    named: ['#/allOf/0'],
    allowed: { a: 1 },
  },
];

/** Schemas that look odd, but can be read. */
export const READABLE_SCHEMAS: readonly OddSchema[] = [
  {
    what: 'definitions beside the reference to them',
    parameters: {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: {
            $ref: '#/$defs/F',
            $defs: {
              F: { type: 'object', properties: { k: { $ref: '#/$defs/K' } }, required: ['k'] },
              K: { enum: ['x', 'y'] },
            },
          },
        },
      },
      required: ['list'],
    },
    named: [],
    allowed: { list: [{ k: 'x' }] },
    forbidden: { list: [{ k: 'z' }] },
  },
  {
    what: 'definitions of a schema around the reference',
    parameters: {
      type: 'object',
      properties: {
        a: {
          type: 'object',
          definitions: { W: { enum: ['x'] } },
          properties: { w: { $ref: '#/definitions/W' } },
          required: ['w'],
        },
      },
      required: ['a'],
    },
    named: [],
    allowed: { a: { w: 'x' } },
    forbidden: { a: { w: 'y' } },
  },
];
