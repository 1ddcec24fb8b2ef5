/**
 * Checks a finished answer against what was asked for, before it is delivered as complete. The grammar has already
 * shaped it; this is the proof, made by another program than the one that compiled the grammar.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { AnswerFormat, ToolDefinition } from '../engine/job.ts';
import { fail, type SvcError } from '../errors/svc-error.ts';
import { linearMatcher } from '../grammar/pattern-match.ts';
import { FORMAT_PATTERNS } from '../grammar/string-grammar.ts';

export interface AnswerCheck {
  /** Throws `answer_invalid` when the text is not of the asked format. */
  text(content: string): void;
  /** Throws `answer_invalid` when the call is of no known tool, or its arguments are not of the tool's schema. */
  call(name: string, argumentsJson: string): void;
}

/** Compiles nothing until an answer is there. */
export function answerCheck(format: AnswerFormat, tools: readonly ToolDefinition[]): AnswerCheck {
  return {
    text(content) {
      if (format.kind === 'text' || format.kind === 'grammar') return;
      const value = parsed(content, 'The answer');
      if (format.kind === 'json_schema') requireValid(format.schema, value, 'The answer');
      else if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw invalid('The answer', 'it is no JSON object');
    },
    call(name, argumentsJson) {
      const tool = tools.find((candidate) => candidate.name === name);
      const what = `The call of tool "${name.slice(0, 64)}"`;
      if (tool === undefined) throw invalid(what, 'there is no such tool');
      requireValid(tool.parameters, parsed(argumentsJson, what), what);
    },
  };
}

function requireValid(schema: Readonly<Record<string, unknown>>, value: unknown, what: string): void {
  const validate = compiled(schema);
  if (validate(value)) return;
  const [error] = validate.errors ?? [];
  throw invalid(what, `${error?.instancePath || 'its root'} ${error?.message ?? 'does not fit the schema'}`);
}

/** A fresh instance each time: schemas of clients must not meet in a common registry. */
function compiled(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const ajv = new Ajv2020({
    strict: false,
    // Without it ajv nests one block per property, which V8 refuses to parse for large objects.
    allErrors: true,
    logger: false,
    meta: false,
    validateSchema: false,
    formats,
    // The optimiser of ajv takes seconds over large schemas, for a check that runs once.
    code: {
      optimize: false,
      regExp: Object.assign((source: string) => linearMatcher(source), { code: 'linearMatcher' }),
    },
  });
  return ajv.compile(current(schema) as Record<string, unknown>);
}

const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'required',
  'type',
]);

/** The schema in the words of draft 2020-12: tuples of draft 7 and OpenAPI's `nullable` are translated. */
function current(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(current);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema)
    .filter(([key]) => key !== '$schema' && key !== 'nullable')
    .map(([key, value]) => [key, currentKeyword(key, value)] as const);
  const { items, additionalItems, ...rest } = Object.fromEntries(entries);
  const tuple = Array.isArray(items);
  const translated = {
    ...rest,
    ...(tuple ? { prefixItems: items } : items === undefined ? {} : { items }),
    ...(tuple && additionalItems !== undefined ? { items: additionalItems } : {}),
  };
  return Reflect.get(schema, 'nullable') === true ? { anyOf: [translated, { type: 'null' }] } : translated;
}

const formats = Object.fromEntries(
  Object.entries(FORMAT_PATTERNS).map(([name, source]) => {
    const matcher = linearMatcher(source);
    return [name, { type: 'string' as const, validate: (text: string) => matcher.test(text) }];
  }),
);

function currentKeyword(key: string, value: unknown): unknown {
  if (DATA_KEYWORDS.has(key)) return value;
  if (!NAMED_SCHEMAS.has(key) || typeof value !== 'object' || value === null) return current(value);
  // The names in here are the client's, not keywords.
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, current(schema)]));
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(what, 'it is no valid JSON');
  }
}

function invalid(what: string, reason: string): SvcError {
  return fail('answer_invalid', { what, reason });
}
