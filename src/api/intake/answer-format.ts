/** `response_format` and `grammar` → the shape of the answer; refused when it could not be kept. */
import type { AnswerFormat } from '../../contract/job.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import type { SchemaBudget } from '../../lib/grammar/schema/schema-budget.ts';
import { compileSchema } from '../../lib/grammar/schema-grammar.ts';
import { prepareProof } from './answer-check.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface FormatFields {
  readonly response_format?: Fields | null | undefined;
  readonly grammar?: string | null | undefined;
}

export function readAnswerFormat(fields: FormatFields, budget: SchemaBudget): AnswerFormat {
  const format = readResponseFormat(fields.response_format ?? null, budget);
  const grammar = fields.grammar ?? '';
  if (grammar === '') return format;
  if (format.kind !== 'text')
    throw refusal('grammar', 'cannot be combined with response_format; send one of them');
  return { kind: 'grammar', gbnf: grammar.toWellFormed() };
}

function readResponseFormat(format: Fields | null, budget: SchemaBudget): AnswerFormat {
  if (format === null) return { kind: 'text' };
  switch (format['type']) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return format['schema'] === undefined
        ? { kind: 'json_object' }
        : enforced(format['schema'], 'response_format.schema', budget);
    case 'json_schema':
      return readJsonSchema(format['json_schema'], budget);
    default:
      throw refusal('response_format.type', 'must be "text", "json_object" or "json_schema"');
  }
}

function readJsonSchema(wrapper: unknown, budget: SchemaBudget): AnswerFormat {
  const path = 'response_format.json_schema';
  if (!isFields(wrapper)) throw refusal(path, 'must be an object with a schema');
  if (wrapper['schema'] === undefined) throw refusal(`${path}.schema`, 'is required');
  // Strict or not, the answer is held to the schema: there is nothing to be gained by being lax.
  return enforced(wrapper['schema'], `${path}.schema`, budget);
}

function enforced(schema: unknown, path: string, budget: SchemaBudget): AnswerFormat {
  if (!isFields(schema)) throw refusal(path, 'must be a JSON Schema object');
  compileSchema(schema, path, { budget });
  prepareProof(schema, path, budget);
  return { kind: 'json_schema', schema };
}

function isFields(value: unknown): value is Fields & Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refusal(path: string, what: string): SvcError {
  return fail('invalid_request', { param: path, message: `${path} ${what}.` });
}
