import { describe, expect, it } from 'vitest';
import { isSvcError } from '../errors/svc-error.ts';
import { compileSchema } from './schema-grammar.ts';

function refusalOf(schema: unknown) {
  try {
    compileSchema(schema, 'schema');
  } catch (error) {
    if (isSvcError(error)) return { param: error.detail.param, message: error.message };
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a schema that cannot be enforced', () => {
  it.each([
    ['not', { not: { type: 'string' } }, 'schema.not'],
    ['if', { type: 'object', if: {}, else: {} }, 'schema.if'],
    ['patternProperties', { type: 'object', patternProperties: {} }, 'schema.patternProperties'],
    ['propertyNames', { type: 'object', propertyNames: {} }, 'schema.propertyNames'],
    ['dependentRequired', { type: 'object', dependentRequired: {} }, 'schema.dependentRequired'],
    ['contains', { type: 'array', contains: {} }, 'schema.contains'],
    ['uniqueItems', { type: 'array', uniqueItems: true }, 'schema.uniqueItems'],
    ['multipleOf', { type: 'number', multipleOf: 0.5 }, 'schema.multipleOf'],
    ['format', { type: 'string', format: 'iri' }, 'schema.format'],
    ['pattern', { type: 'string', pattern: '(?=x)y' }, 'schema.pattern'],
    ['pattern', { type: 'string', pattern: '\\bword' }, 'schema.pattern'],
    ['pattern', { type: 'string', pattern: '(a)\\1' }, 'schema.pattern'],
    ['pattern', { type: 'string', pattern: '[' }, 'schema.pattern'],
    ['maxLength', { type: 'string', pattern: '^a$', maxLength: 3 }, 'schema.maxLength'],
    ['minLength', { enum: ['a'], minLength: 1 }, 'schema.minLength'],
    ['$ref', { $ref: 'https://example.org/other.json' }, 'schema.$ref'],
    ['$id', { $id: 'x', type: 'string' }, 'schema.$id'],
    ['oneOf', { oneOf: [{ type: 'number' }, { type: 'integer' }] }, 'schema.oneOf'],
    ['minProperties', { type: 'object', minProperties: 2 }, 'schema.minProperties'],
    ['unevaluatedProperties', { unevaluatedProperties: false }, 'schema.unevaluatedProperties'],
    [
      'pattern',
      { properties: { a: { items: { type: 'string', pattern: '^a|b$' } } } },
      'schema.properties.a.items.pattern',
    ],
  ])('is refused by the name of its keyword: %s in %j', (keyword, schema, param) => {
    const refusal = refusalOf(schema);
    expect(refusal.param).toBe(param);
    expect(refusal.message).toContain(`"${keyword}"`);
  });

  it.each([
    ['no value at all', { type: 'object', properties: { a: false } }],
    ['no number', { type: 'number', minimum: 3, maximum: 2 }],
    ['no integer', { type: 'integer', minimum: 1.2, maximum: 1.8 }],
    ['an unknown type', { type: 'text' }],
    ['a missing definition', { $ref: '#/$defs/none' }],
    [
      'a circle of references',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
    ],
    ['a recursion without an end', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['a forbidden required property', { type: 'object', required: ['a'], additionalProperties: false }],
    ['too deep a nesting', nested(200)],
    ['a prototype', { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') }],
  ])('is refused when it allows %s', (_, schema) => {
    expect(refusalOf(schema).message).toMatch(/schema/);
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
    for (let i = 1; i < 12; i += 1)
      $defs[`d${i}`] = {
        anyOf: [{ $ref: `#/$defs/d${i - 1}` }, { type: 'array', items: { $ref: `#/$defs/d${i - 1}` } }],
      };
    expect(compileSchema({ $ref: '#/$defs/d11', $defs }, 'schema').length).toBeLessThan(50_000);
  });
});

function nested(depth: number): unknown {
  let schema: unknown = { type: 'string' };
  for (let i = 0; i < depth; i += 1) schema = { type: 'array', items: schema, minItems: 1 };
  return schema;
}
