import { writeJson } from '../../../../lib/json/spelled-numbers.ts';
import type { ToolCallTurn, Turn } from '../../../../contract/job.ts';
import { MOST_CALLS } from '../../../../contract/limits.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import { fail } from '../../../../lib/errors/svc-error.ts';
import { readAnswerFormat, readThinking } from '../../intake/answer-format.ts';
import { begunPrompt } from '../../chat/assistant-prefill.ts';
import {
  AUDIO_REMEDY,
  AUDIO_UNREAD,
  inlineAudio,
  type FoundMedium,
  IMAGE_REMEDY,
  IMAGE_UNREAD,
  imageAt,
  mixed,
  type MixedText,
  onlyText,
  resultImage,
  type Takes,
  Omissions,
} from '../media.ts';
import { fieldsAt, type FieldRows, refuseFields, shown, typeAt } from '../fields.ts';
import { orderResults } from '../../intake/result-order.ts';
import { readToolChoice } from '../../intake/tool-choice.ts';
import { readTools } from '../../intake/tools.ts';
import type { ChatRequest, ContentPart, RequestMessage } from '../../../../wire/inference/chat.ts';
import type { JobContent } from '../../generation/choices.ts';
import { readScoredPrompt } from '../../generation/prompt-scores.ts';

const hasNoTools = ({ tools }: ChatRequest): boolean => (tools ?? []).length === 0;
const cannotThink = (_: ChatRequest, canThink: boolean): boolean => !canThink;

export const FIELDS: FieldRows<ChatRequest> = {
  reasoning_effort: { isIdle: cannotThink },
  enable_thinking: { isIdle: cannotThink },
  reasoning_budget: { isIdle: cannotThink },
  chat_template_kwargs: { isIdle: cannotThink },
  parallel_tool_calls: { isIdle: hasNoTools },
  tool_choice: { isIdle: hasNoTools },
  top_logprobs: { isIdle: ({ logprobs }) => logprobs !== true },
  add_generation_prompt: {
    refused: ({ add_generation_prompt: opens, continue_final_message: continues }) =>
      opens === true && continues === true
        ? 'cannot be true beside continue_final_message; send one of them'
        : null,
  },
};

export function readContent(
  body: ChatRequest,
  takes: Takes = onlyText,
  omissions = new Omissions(),
): JobContent {
  const { tools, toolChoice } = readToolChoice(body.tool_choice, readTools(body.tools ?? []));
  const format = readAnswerFormat(body);
  if (format.kind === 'grammar' && toolChoice.mode !== 'none') {
    throw fail('invalid_request', {
      param: 'grammar',
      message: 'A grammar cannot be combined with tools; drop one of them, or set tool_choice to "none".',
    });
  }
  refuseFields(body, FIELDS);
  const turns = orderResults(readTurns(body.messages, takes, omissions));
  return {
    prompt:
      body.continue_final_message === true
        ? begunPrompt(turns, { toolChoice, format })
        : { kind: 'chat', turns, ...(body.add_generation_prompt === false ? { opens: false } : {}) },
    tools,
    toolChoice,
    ...(body.parallel_tool_calls === true ? { maxCalls: MOST_CALLS } : {}),
    format,
    reasoning: readThinking(body),
    topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : null,
    ...readScoredPrompt(body),
  };
}

function readTurns(messages: readonly RequestMessage[], takes: Takes, omissions: Omissions): Turn[] {
  const toolOfCall = new Map<string, string>();
  return messages.map((message, index) => {
    const turn = readTurn(message, `messages[${index}]`, { toolOfCall, takes, omissions });
    for (const call of turn.toolCalls ?? []) toolOfCall.set(call.id, call.name);
    return turn;
  });
}

interface Reading {
  readonly toolOfCall: ReadonlyMap<string, string>;
  readonly takes: Takes;
  readonly omissions: Omissions;
}

function readTurn(message: RequestMessage, path: string, reading: Reading): Turn {
  const { toolOfCall, takes, omissions } = reading;
  const role = message.role === 'developer' ? 'system' : message.role;
  if (role === 'user') return { role, ...readMixed(message, path, takes) };
  if (role === 'system') return { role, ...readMixed(message, path, onlyText) };
  const content = readHistory(message, path, role === 'tool' ? reading : { takes: onlyText, omissions });
  if (role === 'assistant') return { role, ...content, ...assistantParts(message, path) };
  const id = message.tool_call_id ?? undefined;
  const name = (id === undefined ? undefined : toolOfCall.get(id)) ?? message.name ?? undefined;
  return {
    role,
    ...content,
    ...(id === undefined ? {} : { toolCallId: id.toWellFormed() }),
    ...(name === undefined ? {} : { name: name.toWellFormed() }),
  };
}

function assistantParts(message: RequestMessage, path: string): Pick<Turn, 'reasoning' | 'toolCalls'> {
  const calls = message.tool_calls ?? [];
  const reasoning = message.reasoning_content ?? message.reasoning ?? message.thinking ?? '';
  return {
    ...(reasoning === '' ? {} : { reasoning: reasoning.toWellFormed() }),
    ...(calls.length === 0
      ? {}
      : { toolCalls: calls.map((call, index) => readCall(call, `${path}.tool_calls[${index}]`)) }),
  };
}

function readCall(call: unknown, path: string): ToolCallTurn {
  const fields = fieldsAt(call, path);
  const definition = fieldsAt(fields['function'], `${path}.function`);
  const { name, arguments: given } = definition;
  if (typeof name !== 'string' || name === '') throw refusal(`${path}.function.name`, 'must be a string');
  const { id } = fields;
  return {
    id: typeof id === 'string' ? id.toWellFormed() : '',
    name: name.toWellFormed(),
    argumentsJson: argumentsText(given, `${path}.function.arguments`),
  };
}

/** Some clients replay arguments as an object, and empty ones as "". */
function argumentsText(given: unknown, path: string): string {
  if (given === undefined || given === null || given === '') return '{}';
  if (typeof given === 'string') return given.toWellFormed();
  if (typeof given === 'object') return writeJson(given).toWellFormed();
  throw refusal(path, 'must be JSON text');
}

function readMixed(message: RequestMessage, path: string, takes: Takes): MixedText {
  return mixed(readParts(message, path, (part, at) => readPart(part, at, takes)));
}

/** Content of a tool or another model. The client cannot change it, so unread parts are reported and never refused. */
function readHistory(
  message: RequestMessage,
  path: string,
  { takes, omissions }: Pick<Reading, 'takes' | 'omissions'>,
): MixedText {
  const parts = readParts(message, path, (part, at) => {
    if (TEXTS.includes(part.type)) return readPart(part, at, takes);
    const image = part.type === 'image_url' ? resultImage(imageUrl(part, at), takes) : null;
    return image ?? omissions.stand(at, typeAt(part, at));
  });
  return mixed(parts);
}

function readParts(
  { content, role }: RequestMessage,
  path: string,
  read: (part: ContentPart, path: string) => string | FoundMedium,
): (string | FoundMedium)[] {
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) return content.map((part, index) => read(part, `${path}.content[${index}]`));
  if (role === 'assistant') return [];
  throw refusal(`${path}.content`, 'is required; send a string');
}

function imageUrl(part: ContentPart, path: string): unknown {
  const given = part['image_url'];
  return typeof given === 'string' ? given : fieldsAt(given, `${path}.image_url`)['url'];
}

const TEXTS: readonly unknown[] = ['text', 'refusal'];

function readPart(part: ContentPart, path: string, takes: Takes): string | FoundMedium {
  if (part.type === 'text' && typeof part.text === 'string') return part.text;
  if (part.type === 'refusal' && typeof part['refusal'] === 'string') return part['refusal'];
  if (part.type === 'image_url' && takes('image'))
    return imageAt(imageUrl(part, path), takes) ?? refused(`${path}.image_url`, IMAGE_REMEDY);

  if (part.type === 'input_audio' && takes('audio')) {
    const { data, format } = fieldsAt(part['input_audio'], `${path}.input_audio`);
    return inlineAudio(data, format) ?? refused(`${path}.input_audio`, AUDIO_REMEDY);
  }
  if (part.type === 'image_url') throw refusal(path, IMAGE_UNREAD);
  if (part.type === 'input_audio') throw refusal(path, AUDIO_UNREAD);
  const type = typeAt(part, path);
  if (TEXTS.includes(type)) throw refusal(`${path}.${type}`, 'must be a string');
  throw refusal(path, `is of type ${shown(type)}; only text parts are served`);
}

function refused(path: string, what: string): never {
  throw refusal(path, what);
}
