import { type Fields } from '../../../../lib/base/json.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import type { AnswerFormat, Reasoning } from '../../../../contract/job.ts';
import { MOST_CALLS } from '../../../../contract/limits.ts';
import type { InputItem } from '../../../../wire/responses/items.ts';
import { CompactRequest, InputTokensRequest, ResponsesRequest } from '../../../../wire/responses/request.ts';
import type { ChatAsk } from '../../chat/chat.ts';
import type { JobContent } from '../../generation/choices.ts';
import { sharedOptions, unknownFields } from '../../generation/parameters.ts';
import { readToolChoice } from '../../intake/tool-choice.ts';
import { type FieldRows, idleFields, refuseFields, fieldsAt } from '../fields.ts';
import { formatAs, toolsAs } from '../renamed.ts';
import { readManagement } from './compaction.ts';
import { clientTools, type SortedTools } from './client-tools.ts';
import { takenBy, type Takes, Omissions } from '../media.ts';
import { readTurns } from './turns.ts';

type Body = InputTokensRequest & Partial<ResponsesRequest>;

export interface ReadRequest {
  readonly ask: ChatAsk;
  readonly tools: SortedTools;
}

export function readRequest(body: ResponsesRequest, items: readonly InputItem[]): ReadRequest {
  return read(body, items, ResponsesRequest.properties);
}

export function readCount(body: InputTokensRequest, items: readonly InputItem[]): ReadRequest {
  return read(body, items, InputTokensRequest.properties);
}

export function readCompact(body: CompactRequest, items: readonly InputItem[]): ReadRequest {
  return read(body, items, CompactRequest.properties);
}

export const INCLUDES_THINKING = 'reasoning.encrypted_content';

function read(sent: Body, items: readonly InputItem[], known: Fields): ReadRequest {
  const body = Object.fromEntries(
    Object.entries(sent).filter(([name]) => Object.hasOwn(known, name)),
  ) as Body;
  refuseFields(body, FIELDS);
  const tools = clientTools(body.tools ?? []);
  const omissions = new Omissions();
  const { edits, ignored } = readManagement(body.context_management);
  return {
    tools,
    ask: {
      model: body.model,
      edits,
      content: (model, fetches) =>
        readContent(body, items, { ...tools, takes: takenBy(model, fetches), omissions }),
      options: { ...sharedOptions(body), max_tokens: body.max_output_tokens ?? null },
      idle: ({ reasoning }) => [
        ...idleFields(body, FIELDS, reasoning),
        ...idleIncludes(body),
        ...tools.ignored,
        ...omissions.paths,
        ...ignored,
        ...unknownFields(sent, known),
      ],
    },
  };
}

const FIELDS: FieldRows<Body> = {
  background: {
    refused: ({ background, store }) =>
      background === true && store === false ? 'needs a response that is stored; leave store out' : null,
  },
  conversation: { refused: () => 'is not served; continue a response by previous_response_id' },
  prompt: { refused: () => 'is not served, because no prompts are kept here; send the text' },
  'reasoning.effort': { isIdle: (_, canThink) => !canThink },
  // The thinking itself is sent, so it is not summarised.
  'reasoning.summary': { isIdle: () => true },
  'text.verbosity': { isIdle: () => true },
  truncation: { isIdle: ({ truncation }) => truncation === 'auto' },
};

const idleIncludes = ({ include }: Body): string[] =>
  (include ?? []).filter((name) => name !== INCLUDES_THINKING).map((name) => `include.${name}`);

function readContent(
  body: Body,
  items: readonly InputItem[],
  sorted: SortedTools & { readonly takes: Takes; readonly omissions: Omissions },
): JobContent {
  const turns = readTurns(body.instructions ?? null, items, sorted);
  if (turns.length === 0) throw refusal('input', 'is empty; send text or items');
  const { tools, toolChoice } = readToolChoice(body.tool_choice, readTools(sorted.own), CHOICES);
  return {
    prompt: { kind: 'chat', turns },
    tools,
    toolChoice,
    maxCalls: body.parallel_tool_calls === false ? 1 : MOST_CALLS,
    format: readFormat(body),
    reasoning: readThinking(body),
    topLogprobs: null,
  };
}

const readTools = toolsAs({});

const CHOICES = { expected: '"function", "custom" or "allowed_tools"', place: 'tool_choice.type' };

const FORMAT_NAMES = { 'response_format.json_schema': 'text.format', response_format: 'text.format' };

function readFormat({ text }: Body): AnswerFormat {
  const format = text?.['format'] ?? null;
  if (format === null) return { kind: 'text' };
  const fields = fieldsAt(format, 'text.format');
  const isSchema = fields['type'] === 'json_schema';
  const wrapped = isSchema ? { type: 'json_schema', json_schema: { schema: fields['schema'] } } : fields;
  return formatAs(wrapped, FORMAT_NAMES);
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

function readThinking({ reasoning }: Body): Reasoning {
  const effort = reasoning?.['effort'] ?? null;
  if (effort === null) return {};
  if (typeof effort !== 'string' || !EFFORTS.includes(effort))
    throw refusal('reasoning.effort', `must be one of ${EFFORTS.join(', ')}`);
  return effort === 'none' ? { enabled: false } : { effort };
}
