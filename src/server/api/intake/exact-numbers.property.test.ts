/** Numbers that JavaScript rounds: the check judges by their digits, and the grammar loses no value without saying so. */
import { describe, expect, it } from 'vitest';
import { acceptor } from '../../../../packages/schema-grammar/test/grammar-accept.ts';
import { seeded } from '../../../../packages/schema-grammar/test/grammar-walk.ts';
import { exactSchema } from '../../../../test/support/random/exact-schema.ts';
import { GrammarError } from '../../../../packages/schema-grammar/src/grammar-error.ts';
import { SchemaBudget } from '../../../../packages/schema-grammar/src/schema/schema-budget.ts';
import { compileSchema } from '../../../../packages/schema-grammar/src/schema-grammar.ts';
import { parseSpelled } from '../../../lib/json/parse-spelled.ts';
import { examine, KnownSchemas } from './schema-work.ts';

const SCHEMAS = 300;

function examined(text: string) {
  const known = new KnownSchemas();
  const asked = { digest: 'd', text, path: 'schema', relax: true };
  const leftOut = examine(asked, new SchemaBudget(), known);
  return {
    leftOut,
    problemOf: (value: string) => known.check('d', null, value)?.problem ?? null,
  };
}

describe('schemas of large and of exact numbers', () => {
  it(`${SCHEMAS} of them are checked digit by digit, and their values can be written`, () => {
    const random = seeded(53);
    const counts = { valid: 0, invalid: 0 };
    for (let index = 0; index < SCHEMAS; index += 1) {
      const { text, allows, near } = exactSchema(random);
      const { problemOf, leftOut } = examined(text);
      const accepts = acceptor(compileSchema(parseSpelled(text), 'schema', { relax: true }));
      for (const spelling of near) {
        const isValid = allows(spelling);
        const label = `${text} ${spelling}`;
        expect(problemOf(spelling) === null, `${label}: ${problemOf(spelling)}`).toBe(isValid);
        counts[isValid ? 'valid' : 'invalid'] += 1;
        if (isValid)
          expect(accepts(spelling), `${label} cannot be written; ${JSON.stringify(leftOut)}`).toBe(true);
      }
      expect(leftOut.filter(({ narrowed }) => narrowed === true)).toEqual([]);
    }
    for (const count of Object.values(counts)) expect(count, JSON.stringify(counts)).toBeGreaterThan(500);
  });

  it.each([
    ['{"const":9007199254740993}', ['9007199254740993', '9.007199254740993e15'], ['9007199254740992']],
    ['{"enum":[1e2,{"a":[1.50]}]}', ['100', '{"a":[1.5]}', '{"a":[15e-1]}'], ['{"a":[1.05]}', '1e3']],
    [
      '{"uniqueItems":true}',
      ['[9007199254740993,9007199254740992]', '[1,[1]]'],
      ['[1,1.0]', '[{"a":1},{"a":1e0}]'],
    ],
    ['{"type":"integer"}', ['9007199254740993', '1e3', '1.0'], ['9007199254740993.5', '0.1']],
    ['{"format":"int64"}', ['9223372036854775807', '-9223372036854775808'], ['9223372036854775808', '1.5']],
    ['{"format":"uint64"}', ['18446744073709551615', '0'], ['18446744073709551616', '-1']],
    ['{"multipleOf":0.01}', ['0.07', '1e300', '123456789012345678.12'], ['0.071', '123456789012345678.123']],
    ['{"items":{"maximum":9223372036854775807}}', ['[9223372036854775807]'], ['[9223372036854775808]']],
    [
      '{"not":{"$ref":"#/$defs/a"},"$defs":{"a":{"const":9007199254740993}}}',
      ['9007199254740992'],
      ['9007199254740993'],
    ],
    ['{"additionalProperties":{"minimum":0.1}}', ['{"a":0.1}'], ['{"a":0.0999999999999999999999}']],
  ])('%s', (schema, valid, invalid) => {
    const { problemOf } = examined(schema);
    for (const value of valid) expect(problemOf(value), value).toBeNull();
    for (const value of invalid) expect(problemOf(value), value).not.toBeNull();
  });

  it('may count more characters, items and members than there can be', () => {
    const most = 'maxLength maxItems maxProperties'.split(' ').map((name) => `"${name}":9223372036854775807`);
    const { problemOf } = examined(`{${most.join(',')}}`);
    for (const value of ['"a"', '[1]', '{"a":1}']) expect(problemOf(value), value).toBeNull();
  });

  it('name the limit as it is spelled', () => {
    const { problemOf } = examined('{"type":"integer","maximum":9223372036854775807}');
    expect(problemOf('9223372036854775808')).toBe('its root must be <= 9223372036854775807');
  });

  it('with huge exponents cost no more than their digits', () => {
    const { problemOf } = examined('{"type":"number","multipleOf":1e-300}');
    expect(problemOf(`1e300`)).toBeNull();
    expect(problemOf(`0.${'0'.repeat(100_000)}1`)).toContain('multiple');
    expect(problemOf('7'.repeat(300))).toBeNull();
  });

  it('are errors of the schema where they are none', () => {
    expect(() => examined('{"type":"object","properties":{"a":{"minimum":"x"}}}')).not.toThrow(TypeError);
    try {
      examine(
        { digest: 'd', text: '{"type":"integer","minimum":"x"}', path: 'schema', relax: false },
        new SchemaBudget(),
        new KnownSchemas(),
      );
      expect.fail('it was accepted');
    } catch (error) {
      expect(error).toBeInstanceOf(GrammarError);
    }
  });
});
