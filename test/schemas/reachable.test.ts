/**
 * A value that is valid is one that the grammar can write: random schemas, the corpora, every format and number keyword.
 * What a grammar cannot write is named as narrower.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compileProof } from '../../src/server/api/intake/proof.ts';
import { examine, KnownSchemas } from '../../src/server/api/intake/schema-work.ts';
import { parseSpelled } from '../../src/lib/json/parse-spelled.ts';
import { compileSchema } from '../../packages/schema-grammar/src/schema-grammar.ts';
import { SchemaBudget } from '../../packages/schema-grammar/src/schema/schema-budget.ts';
import type { Schema } from '../../packages/schema-grammar/src/schema/schema-walk.ts';
import { FORMAT_PATTERNS } from '../../packages/schema-grammar/src/string-formats.ts';
import { acceptor } from '../../packages/schema-grammar/test/grammar-accept.ts';
import { seeded } from '../../packages/schema-grammar/test/grammar-walk.ts';
import { canonical, FORMAT_EXAMPLES, RandomInstances } from '../support/random/random-instance.ts';
import { randomRootSchema } from '../../packages/schema-grammar/test/random-schema.ts';
import { zodSchemas } from './zod-schemas.ts';

function fixture(name: string): unknown[] {
  return JSON.parse(
    readFileSync(new URL(`../fixtures/schemas/${name}`, import.meta.url), 'utf8'),
  ) as unknown[];
}

interface Found {
  /** Valid values that were tried. */
  valid: number;
  readonly unreachable: string[];
}

/** Tries random values; those that are not valid count for nothing. */
function tryOut(schema: Schema, seed: number, tries: number, found: Found): void {
  const narrowed: string[] = [];
  let gbnf: string;
  try {
    gbnf = compileSchema(schema, 'schema', { relax: true, narrowed: (_, keyword) => narrowed.push(keyword) });
  } catch {
    return;
  }
  const isValid = compileProof(schema, new SchemaBudget());
  const accepts = acceptor(gbnf);
  const instances = new RandomInstances(schema, seeded(seed));
  for (let index = 0; index < tries; index += 1) {
    const value = instances.next();
    if (!isValid(value)) continue;
    found.valid += 1;
    const text = canonical(value);
    if (accepts(text) || narrowed.some((keyword) => ['contains', 'type'].includes(keyword))) continue;
    found.unreachable.push(`${JSON.stringify(schema).slice(0, 600)} refuses ${text.slice(0, 300)}`);
  }
}

/** The random values follow no other references. */
function refersByPointer(schema: unknown): boolean {
  return !/"\$(?:dynamicR|r)ef":"[^#]|"\$(?:dynamicR|r)ef":"#[^/"]|"\$id"/.test(JSON.stringify(schema));
}

const TRIES = 12;

describe('every valid value can be written', () => {
  it('of random schemas', () => {
    const found: Found = { valid: 0, unreachable: [] };
    fc.assert(
      fc.property(fc.integer({ min: 0 }), (seed) => {
        tryOut(randomRootSchema(seeded(seed)), seed, 6, found);
        expect(found.unreachable).toEqual([]);
      }),
      { numRuns: 300, seed: 41 },
    );
    expect(found.valid).toBeGreaterThan(800);
  });

  it.each<[string, () => readonly unknown[], number]>([
    ['the official suite', () => fixture('draft2020-12.json').filter(refersByPointer), 1_000],
    [
      'zod',
      () => zodSchemas.map((schema) => JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })))),
      200,
    ],
    ['pydantic', () => fixture('pydantic.json'), 200],
    ['the tools of real servers', () => fixture('mcp-tools.json'), 1_000],
  ])('of the schemas of %s', (_, schemas, least) => {
    const found: Found = { valid: 0, unreachable: [] };
    for (const [index, schema] of schemas().entries())
      if (typeof schema === 'object') tryOut(schema as Schema, index, TRIES, found);
    expect(found.unreachable).toEqual([]);
    expect(found.valid).toBeGreaterThan(least);
  });
});

describe('a number', () => {
  const whole = [
    0,
    1,
    -1,
    25,
    999_999_999_999_999,
    2 ** 53 - 1,
    -(2 ** 53),
    1e17,
    2 ** 63,
    -(2 ** 63),
    2 ** 64,
    1e21,
  ];
  const broken = [0.1, -0.25, 1.5, 999.999, 1e-7, 5e-324, 1e300, -1.7976931348623157e308];
  const bounds = [undefined, ...whole, ...broken];
  const schemas = ['integer', 'number'].flatMap((type) =>
    bounds.flatMap((low) => bounds.map((high) => ({ type, low, high }))),
  );

  it('can be written within every pair of bounds, and only there', () => {
    const wrong: string[] = [];
    let tried = 0;
    for (const [index, { type, low, high }] of schemas.entries()) {
      const [lowest, highest] =
        index % 2 === 0 ? ['minimum', 'exclusiveMaximum'] : ['exclusiveMinimum', 'maximum'];
      const written = JSON.stringify({ type, [lowest]: low, [highest]: high });
      const schema = parseSpelled(written) as Schema;
      let accepts: (text: string) => boolean;
      const left: string[] = [];
      try {
        accepts = acceptor(compileSchema(schema, 'schema', { leftOut: (_, keyword) => left.push(keyword) }));
      } catch (error) {
        expect((error as Error).message, JSON.stringify(schema)).toMatch(/lies between its bounds/);
        expect((low ?? -Infinity) >= (high ?? Infinity) || type === 'integer', JSON.stringify(schema)).toBe(
          true,
        );
        continue;
      }
      const known = new KnownSchemas();
      examine({ digest: 'd', text: written, path: 'schema', relax: false }, new SchemaBudget(), known);
      const isValid = (text: string): boolean => known.check('d', null, text)?.problem === null;
      const instances = new RandomInstances(schema, seeded(index));
      for (let time = 0; time < TRIES; time += 1) {
        const value = Number(instances.next());
        if (!Number.isFinite(value)) continue;
        tried += 1;
        // A whole number of type number may be spelled either way.
        const texts = type === 'number' ? [canonical(value), JSON.stringify(value)] : [canonical(value)];
        // The grammar allows more where JavaScript rounds a bound, and beside one of more than 21 digits.
        const isWider = left.length > 0 || Math.abs(value) >= 1e21;
        const odd = texts.filter((text) => (isValid(text) ? !accepts(text) : accepts(text) && !isWider));
        wrong.push(...odd.map((text) => `${written}: ${text}, valid: ${isValid(text)}`));
      }
    }
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(5_000);
  });

  it.each<[object, readonly string[], readonly string[]]>(
    [
      [
        { type: 'integer' },
        ['9087654321012345678', '1795694531987654321', '7'.repeat(78), '0'],
        ['1.5', '01'],
      ],
      [
        { type: 'integer', minimum: 10 ** 17 },
        ['100000000000000000', '9223372036854775807'],
        ['99999999999999999'],
      ],
      [
        { type: 'integer', maximum: 9007199254740991 },
        ['9007199254740991', '-9007199254740991'],
        ['9007199254740993'],
      ],
      [
        { type: 'integer', format: 'int64' },
        ['9223372036854775807', '-9223372036854775808'],
        ['9223372036854775809'],
      ],
      [{ type: 'integer', format: 'uint64' }, ['18446744073709551615'], ['-1']],
      [{ type: 'integer', format: 'int8' }, ['-128', '127'], ['128']],
      [{ type: 'integer', format: 'unix-time' }, ['1795694531987654', '-86400'], []],
      [
        { type: 'number' },
        ['0.1000000000000000055511151231257827', '1e-07', '6.02214076E+23', '1e308', '-5e-324'],
        [],
      ],
      [
        { type: 'number', minimum: 0, maximum: 1 },
        ['0', '0.123456789012345678', '1', '1.0', '1e-7', '2.5e-05', '12e-3'],
        ['1.01', '11e-1', '-0.1', '1e1'],
      ],
      [
        { type: 'number', exclusiveMinimum: 0 },
        ['3e-4', '0.00001', '12345678901234567890.5'],
        ['0', '0.0', '-1'],
      ],
      [{ type: 'integer', multipleOf: 7 }, [String(7n ** 30n), '-49', '0'], ['8']],
      [{ type: 'integer', multipleOf: 1000 }, ['123456789012345678000'], ['1500']],
      [{ type: 'number', multipleOf: 0.01 }, ['123456789012345.67', '1.5', '-2.50'], ['0.001']],
      [{ type: 'number', multipleOf: 0.5 }, ['123456789012345678.5'], ['0.25']],
      [{ type: 'number', not: { const: 5 } }, ['5.25', '1234567.123456789', '50', '1e-7'], ['5']],
      [{}, ['9087654321012345678', '908765432101234.5678912345678', '1e+22']],
    ].map(
      ([schema, good, bad = []]) => [schema, good, bad] as [object, readonly string[], readonly string[]],
    ),
  )('of %j', (schema, good, bad) => {
    const accepts = acceptor(compileSchema(schema, 'schema', { relax: true }));
    expect(good.filter((text) => !accepts(text))).toEqual([]);
    expect(bad.filter((text) => accepts(text))).toEqual([]);
  });
});

describe('a text', () => {
  it('of each format can be written, and is checked by the same rule', () => {
    const wrong: string[] = [];
    for (const [format, source] of Object.entries(FORMAT_PATTERNS)) {
      const schema = { type: 'string', format };
      const accepts = acceptor(compileSchema(schema, 'schema'));
      const isValid = compileProof(schema, new SchemaBudget());
      const examples = FORMAT_EXAMPLES[format];
      for (const text of examples ?? [])
        if (!accepts(JSON.stringify(text)) || !isValid(text)) wrong.push(`${format} ${text}`);
      const changed = fc.sample(
        mutated(
          fc.oneof(
            fc.constantFrom(...(examples ?? [''])),
            fc.stringMatching(new RegExp(source), { size: '-1' }),
          ),
        ),
        { seed: 7, numRuns: 300 },
      );
      const texts = changed.map((each) => each.toWellFormed());
      const odd = texts.filter((text) => accepts(JSON.stringify(text)) !== isValid(text));
      wrong.push(...odd.map((text) => `${format} ${JSON.stringify(text)}, valid: ${isValid(text)}`));
    }
    expect(wrong).toEqual([]);
  });

  it('may hold any character, and any escape', () => {
    const accepts = acceptor(compileSchema({ type: 'string' }, 'schema'));
    const texts = ['\u0000', '\u001f', '\u007f', '\u0085', '\u2028', '\uffff', '\u{10ffff}', '"\\\n', '/'];
    expect(texts.filter((text) => !accepts(JSON.stringify(text)))).toEqual([]);
    const escaped = ['"\\u00e9\\/"', '"\\uD83D\\uDE00"', '"\\ud7ff\\uE000"'];
    expect(escaped.filter((text) => !accepts(text))).toEqual([]);
    const halves = ['"\\ud83d"', '"\\ude00x"', '"\\ud83d\\ud83d"'];
    expect(halves.filter((text) => accepts(text))).toEqual([]);
  });
});

/** The same text with a character left out, doubled or replaced. */
function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat(),
    how: fc.constantFrom('keep', 'drop', 'double', 'replace'),
    by: fc.constantFrom(...'aZ09:/.-%[]@~#é "'),
  });
  return fc.tuple(texts, change).map(([text, { at, how, by }]) => {
    const place = text.length === 0 ? 0 : at % text.length;
    const [before, char, after] = [text.slice(0, place), text.slice(place, place + 1), text.slice(place + 1)];
    if (how === 'keep') return text;
    return before + (how === 'drop' ? '' : how === 'double' ? char + char : by) + after;
  });
}
