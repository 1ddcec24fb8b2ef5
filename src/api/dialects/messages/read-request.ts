/** A Messages request as the one use case of chat is asked. */
import type { AnswerFormat, Reasoning } from '../../../contract/job.ts';
import { MOST_CALLS } from '../../../contract/limits.ts';
import { refusal } from '../../../lib/errors/refusal.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { CountTokensRequest, MessagesRequest } from '../../../wire/messages/request.ts';
import type { ChatAsk } from '../../chat/chat.ts';
import type { JobContent } from '../../generation/choices.ts';
import { sharedOptions, unknownFields } from '../../generation/parameters.ts';
import { tokenBudget } from '../../intake/answer-format.ts';
import { readToolChoice } from '../../intake/tool-choice.ts';
import { type FieldRows, idleFields, refuseFields, type Fields, fieldsAt, isFields } from '../fields.ts';
import { begunPrompt } from '../../chat/assistant-prefill.ts';
import { takenBy, type Takes, Omissions } from '../media.ts';
import { formatAs, toolsAs } from '../renamed.ts';
import { readEdits } from './context-management.ts';
import { clientTools, type SortedTools } from './client-tools.ts';
import { readTurns } from './turns.ts';

/** What an answer is asked with; a count of tokens leaves most of it out. */
type Body = CountTokensRequest & Partial<MessagesRequest>;

export function readRequest(body: MessagesRequest): ChatAsk {
  return asked(body, MessagesRequest.properties);
}

/** The same conversation with nothing to generate. */
export function readCount(body: CountTokensRequest): ChatAsk {
  return asked(body, CountTokensRequest.properties);
}

const FIELDS: FieldRows<Body> = {
  thinking: {
    isIdle: ({ thinking }, canThink) => !canThink && isFields(thinking) && thinking['type'] !== 'disabled',
  },
  mcp_servers: {
    refused: ({ mcp_servers: servers }) =>
      (servers ?? []).length > 0
        ? 'must be empty; no server is called from here, so run its tools in the client'
        : null,
  },
};

function asked(body: Body, known: Readonly<Record<string, unknown>>): ChatAsk {
  const tools = clientTools(body.tools ?? []);
  const omissions = new Omissions();
  const { edits, ignored } = readEdits(body.context_management);
  return {
    model: body.model,
    edits,
    content: (model, fetches) => readContent(body, tools, { takes: takenBy(model, fetches), omissions }),
    options: readOptions(body, known),
    idle: ({ reasoning }) => [
      ...idleFields(body, FIELDS, reasoning),
      ...tools.ignored,
      ...omissions.paths,
      ...ignored,
      ...unknownFields(body, known),
    ],
  };
}

/** Fields of the dialect only: one that it does not know is reported, whatever it means elsewhere. */
function readOptions(body: Body, known: Readonly<Record<string, unknown>>): ChatAsk['options'] {
  const own = Object.entries(body).filter(([name]) => Object.hasOwn(known, name));
  return { ...sharedOptions(Object.fromEntries(own)), stop: body.stop_sequences ?? null };
}

function readContent(
  body: Body,
  { own }: SortedTools,
  { takes, omissions }: { readonly takes: Takes; readonly omissions: Omissions },
): JobContent {
  refuseFields(body, FIELDS);
  // A request of a thread holds only what is new in it.
  if (isFields(body.thread)) throw fail('thread_unsupported', { param: 'thread' });
  const choice = body.tool_choice ?? null;
  const { tools, toolChoice } = readToolChoice(choice, readTools(own), CHOICES);
  const format = readFormat(body);
  const turns = readTurns(body, takes, omissions);
  // The rule of the dialect: whoever ends with a message of the assistant has begun the answer.
  const isBegun = turns.at(-1)?.role === 'assistant';
  return {
    prompt: isBegun ? begunPrompt(turns, { toolChoice, format }) : { kind: 'chat', turns },
    tools,
    toolChoice,
    maxCalls: choice?.['disable_parallel_tool_use'] === true ? 1 : MOST_CALLS,
    format,
    reasoning: readThinking(body),
    topLogprobs: null,
  };
}

const CHOICES = { expected: '"auto", "any", "tool" or "none"', place: 'tool_choice.type' };

/** The word of the dialect for the schema of a tool. */
const SCHEMA_NAME = { '.parameters': '.input_schema' };
const readTools = toolsAs(SCHEMA_NAME);
const FORMAT_NAMES = { 'response_format.json_schema': 'output_config.format' };

function readFormat(body: Body): AnswerFormat {
  const format = askedFormat(body);
  if (format === null) return { kind: 'text' };
  if (format['type'] !== 'json_schema') throw refusal('output_config.format.type', 'must be "json_schema"');
  return formatAs({ type: 'json_schema', json_schema: { schema: format['schema'] } }, FORMAT_NAMES);
}

function askedFormat({ output_config, output_format }: Body): Fields | null {
  const format = output_config?.['format'] ?? output_format ?? null;
  return format === null ? null : fieldsAt(format, 'output_config.format');
}

/** Efforts of the dialect that are none of ours. */
const EFFORTS: Readonly<Record<string, string>> = { max: 'xhigh' };

function readThinking({ thinking, output_config }: Body): Reasoning {
  const type = thinking?.['type'];
  const budget = thinking?.['budget_tokens'];
  const effort = output_config?.['effort'];
  const known = [undefined, 'enabled', 'adaptive', 'disabled'];
  if (thinking && !known.includes(type as string))
    throw refusal('thinking.type', 'must be "enabled", "adaptive" or "disabled"');
  if (budget !== undefined && (!Number.isInteger(budget) || Number(budget) < 0))
    throw refusal('thinking.budget_tokens', 'must be a whole number of tokens');
  return {
    // An adaptive model decides by itself, as one does of which nothing is said.
    ...(type === 'enabled' || type === 'disabled' ? { enabled: type === 'enabled' } : {}),
    ...(budget === undefined ? {} : { budgetTokens: tokenBudget(Number(budget)) }),
    ...(typeof effort === 'string' ? { effort: EFFORTS[effort] ?? effort.slice(0, 16).toWellFormed() } : {}),
  };
}
