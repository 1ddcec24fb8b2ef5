/**
 * The validator of a schema, for the check of finished answers. It does not use the grammar compiler, so that the two
 * check each other. It shares only references, patterns, exact numbers, and the formats that ajv-formats does not
 * have.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import {
  linearMatcher,
  type Matcher,
} from '../../../../packages/schema-grammar/src/pattern/pattern-match.ts';
import type { SchemaBudget } from '../../../../packages/schema-grammar/src/schema/schema-budget.ts';
import type { Schema } from '../../../../packages/schema-grammar/src/schema/schema-walk.ts';
import { OWN_FORMATS } from '../../../../packages/schema-grammar/src/string-formats.ts';
import { addExactKeywords } from './exact-keywords.ts';
import { schema2020 } from './schema-2020.ts';

/** Patterns without a linear matcher occur only in tools' schemas, where they are only checked. */
function toMatcher(source: string): Matcher {
  try {
    return linearMatcher(source);
  } catch {
    const pattern = toRegExp(source);
    return { states: source.length, test: (text) => pattern.test(text), toString: () => source };
  }
}

function toRegExp(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

const FORMATS = {
  ...fullFormats,
  ...Object.fromEntries(
    Object.entries(OWN_FORMATS).map(([name, source]) => [name, lazily(() => linearMatcher(source))]),
  ),
};

function lazily(make: () => Matcher): (text: string) => boolean {
  let made: Matcher | null = null;
  return (text) => {
    made ??= make();
    return made.test(text);
  };
}

/** A new instance each time: schemas of different clients must not share a registry. */
export function compileProof(schema: Schema, budget: SchemaBudget): ValidateFunction {
  const ajv = new Ajv2020({
    strict: false,
    // Without it ajv nests one block per property, which V8 refuses to parse for large objects.
    allErrors: true,
    logger: false,
    meta: false,
    validateSchema: false,
    formats: FORMATS,
    // Otherwise members of Object.prototype count as properties.
    ownProperties: true,
    // Otherwise every reference would be a copy of its target.
    inlineRefs: false,
    // Loops from the first value on; otherwise each name and value becomes separate code.
    loopEnum: 0,
    loopRequired: 0,
    // The optimiser of ajv takes seconds over large schemas, for a check that runs once.
    code: {
      optimize: false,
      regExp: Object.assign((source: string) => paidMatcher(source, budget), { code: 'paidMatcher' }),
    },
  });
  addExactKeywords(ajv);
  const translated = schema2020(schema, budget);
  // Otherwise every reference lists all names after it, for keywords that few schemas have.
  ajv.opts.unevaluated = budget.jsonText(translated).includes('"unevaluated');
  return ajv.compile(translated);
}

/** Charged here too, because the grammar does not see a pattern next to another type. */
function paidMatcher(source: string, budget: SchemaBudget): Matcher {
  const matcher = toMatcher(source);
  budget.spend('steps', source.length + matcher.states);
  return matcher;
}
