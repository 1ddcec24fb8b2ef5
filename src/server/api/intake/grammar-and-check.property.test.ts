import { describe, expect, it } from 'vitest';
import { GrammarError } from '../../../../packages/schema-grammar/src/grammar-error.ts';
import { compileSchema } from '../../../../packages/schema-grammar/src/schema-grammar.ts';
import { SchemaBudget } from '../../../../packages/schema-grammar/src/schema/schema-budget.ts';
import { acceptor } from '../../../../packages/schema-grammar/test/grammar-accept.ts';
import { seeded, textWriter } from '../../../../packages/schema-grammar/test/grammar-walk.ts';
import { randomRootSchema } from '../../../../packages/schema-grammar/test/random-schema.ts';
import { compileProof } from './proof.ts';

const SCHEMAS = 300;
const TEXTS = 12;

describe('multiples of a fraction', () => {
  const bounds = [undefined, -7, -0.25, 0, 0.3, 999.99];
  const schemas = [0.5, 0.125, 0.2, 0.01].flatMap((multipleOf) =>
    bounds.flatMap((low, index) =>
      bounds.map((high, other) => ({
        type: 'number',
        multipleOf,
        [(index + other) % 2 === 0 ? 'minimum' : 'exclusiveMinimum']: low,
        [other % 2 === 0 ? 'maximum' : 'exclusiveMaximum']: high,
      })),
    ),
  );
  const offsets = [-0.5, -0.02, 0, 0.01, 0.125, 0.2];
  const numbers = [-2000, -7, 0, 0.3, 999.99].flatMap((one) =>
    offsets.map((offset) => Number((one + offset).toFixed(3)) + 0),
  );

  it('are allowed where they are valid, and nowhere else', () => {
    let compiled = 0;
    for (const given of schemas) {
      const schema = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
      const isValid = compileProof(schema, new SchemaBudget());
      const valid = numbers.filter((number) => isValid(number));
      try {
        const accepts = acceptor(compileSchema(schema, 'schema'));
        expect(
          numbers.filter((number) => accepts(String(number))),
          JSON.stringify(schema),
        ).toEqual(valid);
        compiled += 1;
      } catch (error) {
        if (!(error instanceof GrammarError)) throw error;
        expect([error.message, valid]).toEqual([expect.stringContaining('between its bounds'), []]);
      }
    }
    expect(compiled).toBeGreaterThan(schemas.length / 2);
  });
});

describe('the check of finished answers', () => {
  it(`has a proof for ${SCHEMAS} random schemas, and passes the texts of their grammars`, () => {
    const random = seeded(5);
    for (let index = 0; index < SCHEMAS; index += 1) {
      const schema = randomRootSchema(random);
      const write = textWriter(compileSchema(schema, 'schema'), random);
      const isValid = compileProof(schema, new SchemaBudget());
      for (let sample = 0; sample < TEXTS; sample += 1) {
        const text = write();
        if (!isValid(JSON.parse(text))) expect.fail(`${JSON.stringify(schema)} accepts ${text}`);
      }
    }
  });
});
