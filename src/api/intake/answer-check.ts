/**
 * Checks a finished answer against what was asked for, before it is delivered as complete. The grammar has already
 * shaped it; this is the proof, made by another program than the one that compiled the grammar.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { AnswerFormat, ToolDefinition } from '../../contract/job.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import { linearMatcher, type Matcher } from '../../lib/grammar/pattern/pattern-match.ts';
import { SchemaBudget, tooLarge } from '../../lib/grammar/schema/schema-budget.ts';
import { malformed, type Schema } from '../../lib/grammar/schema/schema-walk.ts';
import { schema2020 } from './schema-2020.ts';

export interface AnswerCheck {
  /** Throws `answer_invalid` when the text is not of the asked format. */
  text(content: string): void;
  /** Throws `answer_invalid` when the call is of no known tool, or its arguments are not of the tool's schema. */
  call(name: string, argumentsJson: string): void;
}

/** The proofs that were compiled already, kept as long as their schema. */
const proofs = new WeakMap<Schema, ValidateFunction>();

/** Compiles the validator of a schema; a schema without one is refused before anything is generated. */
export function prepareProof(schema: Schema, path: string, budget: SchemaBudget): void {
  try {
    proofs.set(schema, compiled(schema, budget));
  } catch (error) {
    if (budget.isSpent) throw tooLarge(path);
    throw malformed(path, `its answers could not be checked (${(error as Error).message})`);
  }
}

export function answerCheck(format: AnswerFormat, tools: readonly ToolDefinition[]): AnswerCheck {
  return {
    text(content) {
      if (format.kind === 'text' || format.kind === 'grammar') return;
      const value = parsed(content, 'The answer');
      if (format.kind === 'json_schema') requireValid(format.schema, value, 'The answer');
      else if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw invalid('The answer', 'it is not a JSON object');
    },
    call(name, argumentsJson) {
      const tool = tools.find((candidate) => candidate.name === name);
      const what = `The call of tool "${name.slice(0, 64)}"`;
      if (tool === undefined) throw invalid(what, 'there is no such tool');
      requireValid(tool.parameters, parsed(argumentsJson, what), what);
    },
  };
}

function requireValid(schema: Schema, value: unknown, what: string): void {
  const validate = proofs.get(schema) ?? compiled(schema, new SchemaBudget());
  if (validate(value)) return;
  const [error] = validate.errors ?? [];
  throw invalid(what, `${error?.instancePath || 'its root'} ${error?.message ?? 'does not fit the schema'}`);
}

/** What has no linear matcher is in no schema but those of tools, whose patterns are checked only. */
function matcherOf(source: string): Matcher {
  try {
    return linearMatcher(source);
  } catch {
    const pattern = regExpOf(source);
    return { states: source.length, test: (text) => pattern.test(text), toString: () => source };
  }
}

function regExpOf(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

/** A fresh instance each time: schemas of clients must not meet in a common registry. */
function compiled(schema: Schema, budget: SchemaBudget): ValidateFunction {
  const ajv = new Ajv2020({
    strict: false,
    // Without it ajv nests one block per property, which V8 refuses to parse for large objects.
    allErrors: true,
    logger: false,
    meta: false,
    validateSchema: false,
    formats: fullFormats,
    // Else members of Object.prototype count as properties.
    ownProperties: true,
    // 0.07 is a multiple of 0.01.
    multipleOfPrecision: 6,
    // Else every reference would be a copy of what it refers to.
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
  const translated = schema2020(schema, budget);
  // Else every reference adds all names behind it to a list, for keywords that few schemas have.
  ajv.opts.unevaluated = budget.textOf(translated).includes('"unevaluated');
  return ajv.compile(translated);
}

/** Paid for here too: the grammar does not see a pattern next to another type. */
function paidMatcher(source: string, budget: SchemaBudget): Matcher {
  const matcher = matcherOf(source);
  budget.spend('steps', source.length + matcher.states);
  return matcher;
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(what, 'it is not valid JSON');
  }
}

function invalid(what: string, reason: string): SvcError {
  return fail('answer_invalid', { what, reason });
}
