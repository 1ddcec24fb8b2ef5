import { describe, expect, it } from 'vitest';
import { SchemaBudget } from '../../../../packages/schema-grammar/src/schema/schema-budget.ts';
import { examine, KnownSchemas } from './schema-work.ts';

function examined(schema: unknown) {
  const known = new KnownSchemas();
  const asked = { digest: 'd', text: JSON.stringify(schema), path: 'schema', relax: false };
  const leftOut = examine(asked, new SchemaBudget(), known);
  return { leftOut, problem: (answer: unknown) => known.check('d', null, JSON.stringify(answer))?.problem };
}

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = <T>(count: number, make: (index: number) => T): Record<string, T> =>
  Object.fromEntries(many(count, make).map((value, index) => [`p${index}`, value]));
/** Where the grammar never looks, because a string has no items. */
const unseen = (schema: unknown) => ({ type: 'string', items: schema });
const longPattern = (index: number) => ({ pattern: `^x${index}a{1,999}b{1,900}$` });
const integerWithPattern = (index: number) => ({ type: 'integer', ...longPattern(index) });
const ofAllTypes = {
  minimum: 1,
  multipleOf: 0.1,
  minItems: 1,
  uniqueItems: true,
  minLength: 1,
  pattern: 'a',
  required: ['a'],
  additionalProperties: false,
};

describe('a schema whose proof would take long to compile is refused', () => {
  it.each<[string, unknown]>([
    ['properties of a string', { type: 'string', properties: named(20_000, () => false) }],
    ['items of a string', { type: 'string', prefixItems: many(100_000, () => false) }],
    ['booleans that are not seen', unseen({ prefixItems: many(100_000, () => false) })],
    ['lists in place of schemas', unseen({ prefixItems: many(100_000, () => []) })],
    ['a list in place of properties', unseen({ properties: many(100_000, () => false) })],
    ['patterns of integers', { type: 'object', properties: named(900, integerWithPattern) }],
    ['patterns that are not seen', unseen({ prefixItems: many(900, longPattern) })],
    ['nested alternatives', unseen({ oneOf: many(1_900, () => ({ uniqueItems: true, pattern: 'a' })) })],
    ['keywords of all types at once', unseen({ prefixItems: many(1_900, () => ofAllTypes) })],
  ])('%s', (_, schema) => {
    expect(() => examined(schema)).toThrow('is too large or nested too deeply');
  });
});

describe('what costs little is accepted', () => {
  it.each<[string, unknown, unknown]>([
    ['many plain properties', { type: 'object', properties: named(1_900, () => ({ type: 'string' })) }, {}],
    ['many short alternatives', { anyOf: many(900, (index) => ({ const: `v${index}` })) }, 'v899'],
    [
      'lists of values that are not seen',
      unseen({ prefixItems: many(900, () => ({ enum: many(199, String) })) }),
      'a',
    ],
    [
      'names that are not seen',
      unseen({ prefixItems: many(900, () => ({ required: many(199, String) })) }),
      'a',
    ],
  ])('%s', (_, schema, answer) => {
    expect(examined(schema).problem(answer)).toBeNull();
  });
});

describe('the proof refuses an answer', () => {
  const person = {
    type: 'object',
    properties: { name: { type: 'string', pattern: '^[a-z]+$' }, kind: { enum: ['a', { b: 1 }] } },
    required: ['name'],
    additionalProperties: false,
  };
  it.each<[string, unknown, string]>([
    ['without a required name', {}, "must have required property 'name'"],
    [
      'with a value that is not listed',
      { name: 'x', kind: { b: 2 } },
      'must be equal to one of the allowed values',
    ],
    ['that does not match', { name: 'X' }, 'must match pattern'],
    ['with a name too many', { name: 'x', more: 1 }, 'must NOT have additional properties'],
  ])('%s', (_, answer, reason) => {
    const { problem } = examined(person);
    expect(problem(answer)).toContain(reason);
    expect(problem({ name: 'x', kind: { b: 1 } })).toBeNull();
  });
});
