import { type Fields, isFields } from '../../../../lib/base/json.ts';
import type { AnswerFormat, Reasoning } from '../../../../contract/job.ts';
import { MOST_CALLS } from '../../../../contract/limits.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import { fail } from '../../../../lib/errors/svc-error.ts';
import { CountTokensRequest, MessagesRequest } from '../../../../wire/messages/request.ts';
import type { ChatAsk } from '../../chat/chat.ts';
import type { JobContent } from '../../generation/choices.ts';
import { sharedOptions, unknownFields } from '../../generation/parameters.ts';
import { tokenBudget } from '../../intake/answer-format.ts';
import { readToolChoice } from '../../intake/tool-choice.ts';
import { type FieldRows, idleFields, refuseFields, fieldsAt, shown, typeAt } from '../fields.ts';
import { begunPrompt } from '../../chat/assistant-prefill.ts';
import { takenBy, type Takes, Omissions } from '../media.ts';
import { formatAs, toolsAs, type PlacedTool } from '../renamed.ts';
import { readEdits } from './context-management.ts';
import { readTurns } from './turns.ts';
import { memoizeByObject } from '../../../../lib/base/memoize-by-object.ts';

type Body = CountTokensRequest & Partial<MessagesRequest>;

export function readRequest(body: MessagesRequest): ChatAsk {
  return asked(body, MessagesRequest.properties);
}

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

/** Reads only fields of this dialect; a field of another dialect is reported as unknown. */
function readOptions(body: Body, known: Readonly<Record<string, unknown>>): ChatAsk['options'] {
  const own = Object.entries(body).filter(([name]) => Object.hasOwn(known, name));
  const { stop_sequences: stop = null, ...options } = Object.fromEntries(own) as Partial<Body>;
  return { ...sharedOptions(options), stop };
}

function readContent(
  body: Body,
  { own }: SortedTools,
  { takes, omissions }: { readonly takes: Takes; readonly omissions: Omissions },
): JobContent {
  refuseFields(body, FIELDS);
  // A request in a thread contains only what is new, so the conversation is incomplete.
  if (isFields(body.thread)) throw fail('thread_unsupported', { param: 'thread' });
  const choice = body.tool_choice ?? null;
  const { tools, toolChoice } = readToolChoice(choice, readTools(own), CHOICES);
  const format = readFormat(body);
  const turns = readTurns(body, takes, omissions);
  // Rule of the dialect: a final assistant message begins the answer.
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

const SCHEMA_NAME = { '.parameters': '.input_schema' };
const readTools = toolsAs(SCHEMA_NAME);
function readFormat({ output_config, output_format }: Body): AnswerFormat {
  const inConfig = output_config?.['format'] ?? null;
  const place = inConfig === null ? 'output_format' : 'output_config.format';
  const asked = inConfig ?? output_format ?? null;
  if (asked === null) return { kind: 'text' };
  const format = fieldsAt(asked, place);
  if (format['type'] !== 'json_schema') throw refusal(`${place}.type`, 'must be "json_schema"');
  const names = { 'response_format.json_schema': place };
  return formatAs({ type: 'json_schema', json_schema: { schema: format['schema'] } }, names);
}

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
    // An adaptive model decides itself, as does one without the field.
    ...(type === 'enabled' || type === 'disabled' ? { enabled: type === 'enabled' } : {}),
    ...(budget === undefined ? {} : { budgetTokens: tokenBudget(Number(budget)) }),
    ...(typeof effort === 'string' ? { effort: EFFORTS[effort] ?? effort.slice(0, 16).toWellFormed() } : {}),
  };
}

interface SortedTools {
  readonly own: readonly PlacedTool[];
  readonly ignored: readonly string[];
}

/**
 * A tool without a schema belongs to the provider: it runs there, or only its own models know the schema. Agents send
 * such tools automatically in addition to their own and work without them; a request with no other tool depends on
 * them. The same list is sorted once.
 */
const clientTools = memoizeByObject((tools: readonly Fields[]): SortedTools => {
  const isOwn = ({ type }: Fields): boolean => type === undefined || type === null || type === 'custom';
  const foreign = tools.flatMap((tool, index) => (isOwn(tool) ? [] : [{ tool, index }]));
  const [first] = foreign;
  if (first !== undefined && foreign.length === tools.length) {
    const path = `tools[${first.index}].type`;
    throw refusal(
      path,
      `is ${shown(typeAt(first.tool, `tools[${first.index}]`))}, a tool of its provider; define one with an input_schema`,
    );
  }
  return {
    own: tools.flatMap((tool, index) => {
      const { name, description, input_schema } = tool;
      const read = { name, description, parameters: input_schema };
      return isOwn(tool) ? [{ path: `tools[${index}]`, tool: read }] : [];
    }),
    ignored: foreign.map(({ tool, index }) => `tools[${index}].${typeAt(tool, `tools[${index}]`)}`),
  };
});
