import { type Fields, isFields } from '../../../lib/base/json.ts';
import type { AnswerFormat, Reasoning } from '../../../contract/job.ts';
import { refusal } from '../../../lib/errors/refusal.ts';
import { placeSchema } from './schema-places.ts';
import type { ChatRequest } from '../../../wire/inference/chat.ts';

export interface FormatFields {
  readonly response_format?: Fields | null | undefined;
  readonly grammar?: string | null | undefined;
  readonly json_schema?: Fields | null | undefined;
}

export function readAnswerFormat(fields: FormatFields): AnswerFormat {
  const format = readJson(fields);
  const grammar = fields.grammar ?? '';
  if (grammar === '') return format;
  if (format.kind !== 'text')
    throw refusal('grammar', 'cannot be combined with response_format or json_schema; send one of them');
  return { kind: 'grammar', gbnf: grammar.toWellFormed() };
}

function readJson({
  response_format: format = null,
  json_schema: schema = null,
}: FormatFields): AnswerFormat {
  const asked = readResponseFormat(format);
  if (schema === null) return asked;
  if (asked.kind !== 'text')
    throw refusal('json_schema', 'cannot be combined with response_format; send one of them');
  return enforced(schema, 'json_schema');
}

function readResponseFormat(format: Fields | null): AnswerFormat {
  if (format === null) return { kind: 'text' };
  switch (format['type']) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return format['schema'] === undefined
        ? { kind: 'json_object' }
        : enforced(format['schema'], 'response_format.schema');
    case 'json_schema':
      return readJsonSchema(format['json_schema']);
    default:
      throw refusal('response_format.type', 'must be "text", "json_object" or "json_schema"');
  }
}

function readJsonSchema(wrapper: unknown): AnswerFormat {
  const path = 'response_format.json_schema';
  if (!isFields(wrapper)) throw refusal(path, 'must be an object with a schema');
  if (wrapper['schema'] === undefined) throw refusal(`${path}.schema`, 'is required');
  return enforced(wrapper['schema'], `${path}.schema`);
}

function enforced(schema: unknown, path: string): AnswerFormat {
  if (!isFields(schema)) throw refusal(path, 'must be a JSON Schema object');
  return { kind: 'json_schema', schema: placeSchema(schema, path) };
}

type ThinkingFields = Pick<
  ChatRequest,
  'reasoning_effort' | 'enable_thinking' | 'reasoning_budget' | 'chat_template_kwargs'
>;

export function readThinking(fields: ThinkingFields): Reasoning {
  const effort = fields.reasoning_effort ?? undefined;
  const asked = fields.enable_thinking ?? fields.chat_template_kwargs?.['enable_thinking'];
  const enabled = typeof asked === 'boolean' ? asked : effort === 'none' ? false : undefined;
  const budget = fields.reasoning_budget ?? undefined;
  return {
    ...(enabled === undefined ? {} : { enabled }),
    ...(effort === undefined || effort === 'none' ? {} : { effort }),
    ...(budget === undefined ? {} : { budgetTokens: tokenBudget(budget) }),
  };
}

/** No answer is longer; more would not fit the integers of engines. */
const MOST_BUDGET = 2 ** 31 - 1;

export const tokenBudget = (asked: number): number => Math.min(asked, MOST_BUDGET);
