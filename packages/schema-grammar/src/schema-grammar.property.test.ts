import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { compileSchema } from './schema-grammar.ts';
import { linearMatcher } from './pattern/pattern-match.ts';
import { GrammarError } from './grammar-error.ts';
import { FORMAT_PATTERNS } from './string-formats.ts';
import { acceptor } from '../test/grammar-accept.ts';
import { seeded, textWriter } from '../test/grammar-walk.ts';
import { randomRootSchema } from '../test/random-schema.ts';

const SCHEMAS = 300;
const TEXTS = 12;

/** Judges with JavaScript's own regular expressions, so that the compiler's pattern code is not its own judge. */
function judge(schema: Record<string, unknown>) {
  const formats = Object.fromEntries(
    Object.entries(FORMAT_PATTERNS).map(([name, source]) => [name, new RegExp(source)]),
  );
  return new Ajv2020({ strict: false, formats, meta: false, validateSchema: false }).compile(schema);
}

describe('texts of a compiled schema', () => {
  it.each([{ quoted: false }, { quoted: true }])(
    `are valid for ${SCHEMAS} random schemas (quoted: $quoted)`,
    ({ quoted }) => {
      const random = seeded(quoted ? 11 : 7);
      for (let index = 0; index < SCHEMAS; index += 1) {
        const schema = randomRootSchema(random);
        const gbnf = compileSchema(schema, 'schema', {
          quoted,
          spacing: index % 2 === 0 ? 'compact' : 'spaced',
        });
        const valid = judge(schema);
        const write = textWriter(gbnf, random);
        for (let sample = 0; sample < TEXTS; sample += 1) {
          const text = write();
          const value: unknown = JSON.parse(quoted ? (JSON.parse(`"${text}"`) as string) : text);
          if (!valid(value))
            expect.fail(`${JSON.stringify(schema)}\n accepts ${text}\n ${JSON.stringify(valid.errors)}`);
        }
      }
    },
  );
});

describe('arrays that contain so many items of a kind', () => {
  it('have no more and no fewer of them', () => {
    const random = seeded(23);
    const kinds = [{ const: 1 }, { type: 'string' }, { minimum: 5 }, { enum: [0, true, 'a'] }];
    const bounds = [0, 1, 2].flatMap((minContains) =>
      [2, 3].map((maxContains) => ({ minContains, maxContains })),
    );
    const others = [{}, { minItems: 4, maxItems: 5 }, { prefixItems: [true, true] }];
    const schemas = kinds.flatMap((contains) =>
      bounds.flatMap((bound) => others.map((other) => ({ type: 'array', contains, ...bound, ...other }))),
    );
    for (const schema of schemas) {
      const valid = judge(schema);
      const write = textWriter(compileSchema(schema, 'schema'), random);
      for (let sample = 0; sample < TEXTS; sample += 1) {
        const text = write();
        expect(valid(JSON.parse(text)), `${JSON.stringify(schema)} accepts ${text}`).toBe(true);
      }
    }
  });
});

describe('whole numbers', () => {
  it('have no fraction, however many digits the model writes before the exponent', () => {
    const many = (count: number): string => '1234567891'.repeat(40).slice(0, count);
    for (const schema of [
      {},
      { minimum: 1 },
      { maximum: 5e22 },
      { minimum: 3e21 },
      { exclusiveMinimum: 1e300 },
    ]) {
      const accepts = acceptor(compileSchema({ type: 'integer', ...schema }, 'schema'));
      const tooMany = [21, 22, 23, 30, 307, 308].flatMap((exponent) =>
        [exponent + 1, exponent + 5, 400].map((digits) => `1.${many(digits)}e${exponent}`),
      );
      for (const text of tooMany) expect(accepts(text), `${JSON.stringify(schema)} ${text}`).toBe(false);
    }
    const accepts = acceptor(compileSchema({ type: 'integer' }, 'schema'));
    for (const text of ['1e21', '-1.5e22', '1.7976931348623157e308', '9.87654321e+100'])
      expect(accepts(text), text).toBe(true);
  });

  const either = (name: string, values: readonly unknown[]): readonly object[] => [
    {},
    ...values.map((value) => ({ [name]: value })),
  ];
  const lowest = [...either('minimum', [-7, 0, 2, 4]), { exclusiveMinimum: -3 }];
  const highest = [...either('maximum', [6, 0, -2]), { exclusiveMaximum: 9 }];
  const steps = either('multipleOf', [2, 3]);
  const holes = either('not', [{ const: 3 }, { enum: [-6, 0, 4] }]);
  const schemas = lowest.flatMap((low) =>
    highest.flatMap((high) =>
      steps.flatMap((step) => holes.map((hole) => ({ type: 'integer', ...low, ...high, ...step, ...hole }))),
    ),
  );
  const numbers = Array.from({ length: 27 }, (_, index) => index - 13);

  it('are allowed where they are valid, and nowhere else', () => {
    const refusals = new Map<string, number>();
    for (const schema of schemas) {
      const judged = judge({ ...schema });
      const valid = numbers.map((number) => judged(number));
      try {
        const accepts = acceptor(compileSchema(schema, 'schema'));
        expect(
          numbers.map((number) => accepts(String(number))),
          JSON.stringify(schema),
        ).toEqual(valid);
      } catch (error) {
        if (!(error instanceof GrammarError)) throw error;
        const reason =
          /no whole number|no multiple|too many multiples/.exec(error.message)?.[0] ?? error.message;
        refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
        if (reason.startsWith('no ')) expect(valid, JSON.stringify(schema)).not.toContain(true);
      }
    }
    expect([...refusals.keys()].toSorted()).toEqual(['no multiple', 'no whole number', 'too many multiples']);
    // Many steps above a bound that is none of them: refused by name.
    expect(refusals.get('too many multiples')).toBeLessThan(schemas.length / 4);
  });
});

describe('multiples of a fraction', () => {
  it('have any number of steps', () => {
    const accepts = acceptor(compileSchema({ type: 'number', multipleOf: 0.000001 }, 'schema'));
    const texts = ['999.999999', '-999.999999', '0.000001', '1000', '0.0000001', '-0.000001'];
    expect(texts.map((text) => accepts(text))).toEqual([true, true, true, true, false, true]);
    const beyond = acceptor(compileSchema({ type: 'number', multipleOf: 0.01, minimum: 1e8 }, 'schema'));
    const large = ['12345678901.23', '123456789012345678901.5', '99999999.99', '100000000.001'];
    expect(large.map((text) => beyond(text))).toEqual([true, true, false, false]);
  });
});

describe('the linear matcher', () => {
  const sources = [
    '^[a-z]{2,5}$',
    '^(?:ab|cd)+x?$',
    'x\\d',
    '^v',
    '^.{0,4}$',
    '(?:a|b)*c',
    '^\\s+$',
    '[^\\W\\d]+',
    '^(a?){3}b$',
    '^(a*)*$',
    'a|b',
  ];
  it('agrees with RegExp', () => {
    const random = seeded(3);
    const letters = [...'abcxv109 \n-_é'];
    for (const source of sources) {
      const [fast, slow] = [linearMatcher(source), new RegExp(source, 'u')];
      for (let i = 0; i < 400; i += 1) {
        const text = Array.from(
          { length: Math.floor(random() * 7) },
          () => letters[Math.floor(random() * letters.length)],
        ).join('');
        expect(fast.test(text), `${source} on ${JSON.stringify(text)}`).toBe(slow.test(text));
      }
    }
  });

  it('stays linear where a backtracking engine would not end', () => {
    expect(linearMatcher('^(a+)+$').test(`${'a'.repeat(50_000)}b`)).toBe(false);
  });
});
