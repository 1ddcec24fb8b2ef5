import { describe, expect, it } from 'vitest';
import { GrammarError } from './grammar-error.ts';
import { SchemaBudget } from './schema/schema-budget.ts';
import { compileSchema } from './schema-grammar.ts';

function refusalOf(schema: unknown) {
  try {
    compileSchema(schema, 'schema');
  } catch (error) {
    if (error instanceof GrammarError) return { param: error.path, message: error.message };
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a schema that cannot be enforced', () => {
  it.each([
    ['not', { type: 'object', not: { patternProperties: { a: true } } }, 'schema.not'],
    ['not', { if: { items: { const: 1 } }, else: { type: 'string' } }, 'schema.not'],
    ['patternProperties', { patternProperties: { '(?<=a)b': {} } }, 'schema.patternProperties'],
    ['maxContains', { type: 'array', contains: {}, maxContains: 101 }, 'schema.maxContains'],
    ['multipleOf', { type: 'number', multipleOf: 1.7 }, 'schema.multipleOf'],
    ['multipleOf', { type: 'integer', multipleOf: 7, minimum: 100 }, 'schema.multipleOf'],
    ['format', { type: 'string', format: 'isbn' }, 'schema.format'],
    ['pattern', { type: 'string', pattern: '(?<!x)y' }, 'schema.pattern'],
    ['pattern', { type: 'string', pattern: '\\bword' }, 'schema.pattern'],
    ['pattern', { type: 'string', pattern: '(a)\\1' }, 'schema.pattern'],
    ['pattern', { type: 'string', pattern: '[' }, 'schema.pattern'],
    ['format', { type: 'string', format: 'uuid', pattern: '^[A-Z]+$' }, 'schema.format'],
    ['items', { enum: [[1]], items: { $ref: '#' } }, 'schema.items'],
    ['$ref', { $ref: 'https://example.org/other.json' }, 'schema.$ref'],
    ['oneOf', { oneOf: [{ items: { type: 'string' } }, { uniqueItems: true }] }, 'schema.oneOf'],
    ['minProperties', { type: 'object', minProperties: 2 }, 'schema.minProperties'],
    ['unevaluatedItems', { unevaluatedItems: false, contains: { const: 1 } }, 'schema.unevaluatedItems'],
    ['colour', { type: 'string', colour: 'red' }, 'schema.colour'],
  ])('is refused by the name of its keyword: %s in %j', (keyword, schema, param) => {
    const refusal = refusalOf(schema);
    expect(refusal.param).toBe(param);
    expect(refusal.message).toContain(`"${keyword}"`);
  });

  it.each([
    ['no value at all', { type: 'object', properties: { a: false }, required: ['a'] }],
    ['no number', { type: 'number', minimum: 3, maximum: 2 }],
    ['fewer items than it wants', { type: 'array', contains: {}, minContains: 3, maxContains: 1 }],
    ['no integer', { type: 'integer', minimum: 1.2, maximum: 1.8 }],
    ['an unknown type', { type: 'text' }],
    ['a missing definition', { $ref: '#/$defs/none' }],
    [
      'a circle of references',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
    ],
    [
      'a circle of parts',
      {
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
        $ref: '#/$defs/a',
      },
    ],
    ['a recursion without an end', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['a forbidden required property', { type: 'object', required: ['a'], additionalProperties: false }],
    ['too deep a nesting', nested(200)],
  ])('is refused when it allows %s', (_, schema) => {
    expect(refusalOf(schema).message).toMatch(/schema/);
  });
});

describe('what a grammar cannot enforce is left out where that is allowed', () => {
  it.each<[object, string[]]>([
    [{ type: 'object', properties: { a: { pattern: '\\bx' } } }, ['schema.properties.a pattern']],
    [{ type: 'object', not: { patternProperties: {} }, colour: 1 }, ['schema colour', 'schema not']],
    [
      { type: 'array', uniqueItems: true, items: { format: 'isbn' } },
      ['schema uniqueItems', 'schema.items format'],
    ],
    [{ oneOf: [{ minimum: 2 }, { $ref: 'other' }] }, ['schema oneOf', 'schema.oneOf[1] $ref']],
    [
      { type: 'string', pattern: '^a(?<=a)', format: 'date', maxLength: 10 },
      ['schema format', 'schema pattern'],
    ],
  ])('%j', (schema, expected) => {
    const leftOut = new Set<string>();
    compileSchema(schema, 'schema', {
      relax: true,
      leftOut: (path, keyword) => leftOut.add(`${path} ${keyword}`),
    });
    expect([...leftOut].sort()).toEqual(expected);
  });

  it('but a schema that is none is refused where it is not', () => {
    expect(() => compileSchema({ type: 'text' }, 'schema')).toThrow('not a JSON type');
    expect(compileSchema({ type: 'text' }, 'schema', { relax: true })).toContain('root ::=');
  });
});

describe('a bomb', () => {
  it('of many values is refused', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 6000 }, (_, i) => [`p${i}`, { type: 'string' }]),
    );
    expect(refusalOf({ type: 'object', properties }).message).toContain('too large');
  });

  it('of definitions that double stays small', () => {
    const $defs: Record<string, unknown> = { d0: { type: 'null' } };
    for (let i = 1; i < 12; i += 1) {
      $defs[`d${i}`] = {
        anyOf: [{ $ref: `#/$defs/d${i - 1}` }, { type: 'array', items: { $ref: `#/$defs/d${i - 1}` } }],
      };
    }
    expect(compileSchema({ $ref: '#/$defs/d11', $defs }, 'schema').length).toBeLessThan(50_000);
  });

  // Each of these would take seconds, or for ever, if the work were not counted.
  it.each<[string, object]>([
    ['parts that double', partsThatDouble(60)],
    ['parts one in the other', partsOneInTheOther(5_000)],
    ['many parts', { allOf: many(15_000, (i) => ({ properties: { [`p${i}`]: { type: 'string' } } })) }],
    ['many branches', { oneOf: many(8_000, (i) => ({ const: i })) }],
    [
      'many open branches',
      { oneOf: many(1_500, (i) => ({ type: 'object', required: ['k'], ...tagged(i) })) },
    ],
    [
      'branches under a large base',
      { required: many(200_000, () => 'a'), anyOf: many(1_500, (i) => ({ title: `${i}` })) },
    ],
    [
      'one large constant under many names',
      {
        const: 'x'.repeat(400_000),
        oneOf: many(1_500, () => ({ $ref: '#/$defs/a' })),
        $defs: { a: { const: 'x'.repeat(400_000) } },
      },
    ],
    [
      'one long way under many names',
      {
        allOf: many(1_500, () => ({ $ref: '#/$defs/a' })),
        $defs: { a: { $ref: `#/$defs/b${'/a'.repeat(500_000)}` }, b: {} },
      },
    ],
    [
      'types by the thousand',
      { type: many(50_000, (i) => `a${i}`), allOf: [{ type: many(50_000, (i) => `b${i}`) }] },
    ],
    ['large patterns', { anyOf: many(1_500, (i) => ({ type: 'string', pattern: `^(?:a{0,900}){4}${i}$` })) }],
    [
      'required names by the thousand',
      {
        required: many(400_000, (i) => `r${i}`),
        properties: Object.fromEntries(many(1_500, (i) => [`p${i}`, true])),
      },
    ],
    ['long texts', { enum: ['x'.repeat(4_000_000)] }],
  ])('of %s is refused in a moment', (_, schema) => {
    expect(refusalOf(schema)).toMatchObject({ param: expect.stringMatching(/^schema/) });
  });

  it('of as many optional properties as there may be is compiled', () => {
    const properties = Object.fromEntries(many(1_990, (i) => [`p${i}`, { type: 'string' }]));
    expect(compileSchema({ properties }, 'schema')).toContain('p1989');
  });

  it('spread over the schemas of one request is refused as one', () => {
    const budget = new SchemaBudget();
    const range = (i: number) => ({ type: 'number', minimum: -123_456.789 + i, maximum: 987_654.321 + i });
    const schema = { properties: Object.fromEntries(many(60, (i) => [`p${i}`, range(i)])) };
    compileSchema(schema, 'tools[0]', { budget });
    expect(() => {
      for (let tool = 1; tool < 128; tool += 1) compileSchema(schema, `tools[${tool}]`, { budget });
    }).toThrow(/tools\[\d+\] is too large/);
  });
});

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function tagged(tag: number) {
  return { properties: { k: { const: tag } } };
}

function partsThatDouble(levels: number) {
  const $defs: Record<string, unknown> = { [`d${levels}`]: { type: 'object' } };
  for (let i = 0; i < levels; i += 1)
    $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] };
  return { $ref: '#/$defs/d0', $defs };
}

function partsOneInTheOther(levels: number) {
  const $defs: Record<string, unknown> = { [`d${levels}`]: { type: 'object' } };
  for (let i = 0; i < levels; i += 1) $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }] };
  return { $ref: '#/$defs/d0', $defs };
}

function nested(depth: number): unknown {
  let schema: unknown = { type: 'string' };
  for (let i = 0; i < depth; i += 1) schema = { type: 'array', items: schema, minItems: 1 };
  return schema;
}
