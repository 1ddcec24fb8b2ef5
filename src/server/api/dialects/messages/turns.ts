import { isFields } from '../../../../lib/base/json.ts';
import { writeJson } from '../../../../lib/json/spelled-numbers.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import type { ToolCallTurn, Turn } from '../../../../contract/job.ts';
import type { RequestBlock } from '../../../../wire/messages/blocks.ts';
import type { CountTokensRequest, RequestMessage } from '../../../../wire/messages/request.ts';
import { summaryTurn } from '../../chat/compaction/summary.ts';
import { openTurns } from '../sealed-turns.ts';
import { orderResults } from '../../intake/result-order.ts';
import { fieldsAt, shown, textAt, typeAt } from '../fields.ts';
import {
  type FoundMedium,
  IMAGE_REMEDY,
  IMAGE_UNREAD,
  imageAt,
  mixed,
  resultImage,
  type Takes,
  type Omissions,
} from '../media.ts';

type Content = RequestMessage['content'];

const BLOCK_SEPARATOR = '\n\n';

export function readTurns(
  { system, messages }: Pick<CountTokensRequest, 'system' | 'messages'>,
  takes: Takes,
  omissions: Omissions,
): Turn[] {
  const reading = { names: new Map<string, string>(), takes, omissions };
  let turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    const carried = carriedTurns(message, path, reading);
    if (carried !== null) turns = [...turns.filter(({ role }) => role === 'system'), ...carried];
    const own = readMessage(message, path, reading);
    turns.push(...(carried === null ? own : own.filter((turn) => !isEmpty(turn))));
  }
  return orderResults([...systemTurn(system), ...turns]);
}

function carriedTurns(
  { role, content }: RequestMessage,
  path: string,
  { names, omissions }: Reading,
): Turn[] | null {
  if (role !== 'assistant' || typeof content === 'string') return null;
  const at = content.findLastIndex(({ type }) => type === 'compaction');
  const block = content[at];
  if (block === undefined || (block['content'] ?? null) === null) return null;
  const summary = textAt(block['content'], `${path}.content[${at}].content`);
  const turns = openTurns(block['encrypted_content']) ?? [summaryTurn(summary)];
  // The summary covers earlier parts of the same message too.
  if (at > 0) omissions.leave(`${path}.content`, 'blocks before a compaction');
  for (const { id, name } of turns.flatMap(({ toolCalls = [] }) => toolCalls)) names.set(id, name);
  return turns;
}

const isEmpty = ({ content, reasoning, toolCalls }: Turn): boolean =>
  content === '' && reasoning === undefined && toolCalls === undefined;

interface Reading {
  readonly names: Map<string, string>;
  readonly takes: Takes;
  readonly omissions: Omissions;
}

function systemTurn(system: Content | undefined): Turn[] {
  if (system === undefined) return [];
  const texts = asBlocks(system).map((block, index) => readText(block, `system[${index}]`));
  const content = texts.join(BLOCK_SEPARATOR);
  return content === '' ? [] : [{ role: 'system', content }];
}

function readMessage({ role, content }: RequestMessage, path: string, reading: Reading): Turn[] {
  const blocks = asBlocks(content);
  const at = (index: number): string =>
    typeof content === 'string' ? `${path}.content` : `${path}.content[${index}]`;
  if (role === 'assistant') return [assistantTurn(blocks, at, reading)];
  if (role === 'system') {
    const texts = blocks.map((block, index) => readText(block, at(index)));
    return [{ role, content: texts.join(BLOCK_SEPARATOR) }];
  }
  return userTurns(blocks, at, reading);
}

function userTurns(blocks: readonly RequestBlock[], at: (index: number) => string, reading: Reading): Turn[] {
  const turns: Turn[] = [];
  let parts: (string | FoundMedium)[] = [];
  const close = (): void => {
    if (parts.length > 0) turns.push({ role: 'user', ...mixed(parts, BLOCK_SEPARATOR) });
    parts = [];
  };
  for (const [index, block] of blocks.entries()) {
    if (block.type === 'tool_result') {
      close();
      turns.push(resultTurn(block, at(index), reading));
      continue;
    }
    if (isOfProvider(block.type)) {
      reading.omissions.leave(at(index), block.type);
      continue;
    }
    const isImage = block.type === 'image' && reading.takes('image');
    parts.push(isImage ? readImage(block, at(index), reading.takes) : readText(block, at(index)));
  }
  close();
  return turns.length === 0 ? [{ role: 'user', content: '' }] : turns;
}

function readImage(block: RequestBlock, path: string, takes: Takes): FoundMedium {
  const source = fieldsAt(block['source'], `${path}.source`);
  const image = imageAt(imageUrl(source), takes);
  if (image !== null) return image;
  const isAddress = source['type'] === 'url';
  throw refusal(
    isAddress ? `${path}.source.url` : `${path}.source`,
    isAddress ? IMAGE_REMEDY : 'must hold the image itself, as base64',
  );
}

function imageUrl({ type, url, media_type: kind, data }: Readonly<Record<string, unknown>>): unknown {
  if (type === 'url') return url;
  return type === 'base64' ? `data:${String(kind)};base64,${String(data)}` : null;
}

function assistantTurn(
  blocks: readonly RequestBlock[],
  at: (index: number) => string,
  { names, omissions }: Reading,
): Turn {
  let content = '';
  let reasoning = '';
  const toolCalls: ToolCallTurn[] = [];
  for (const [index, block] of blocks.entries()) {
    switch (block.type) {
      case 'thinking':
        reasoning += textAt(block['thinking'], `${at(index)}.thinking`);
        break;
      case 'compaction':
      case 'redacted_thinking':
        // Only the provider that encrypted it can read it.
        break;
      case 'tool_use': {
        const call = readCall(block, at(index));
        names.set(call.id, call.name);
        toolCalls.push(call);
        break;
      }
      default:
        if (TEXTS.includes(block.type)) content += readText(block, at(index));
        else omissions.leave(at(index), block.type);
    }
  }
  return {
    role: 'assistant',
    content,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

function readCall(block: RequestBlock, path: string): ToolCallTurn {
  const name = textAt(block['name'], `${path}.name`);
  if (name === '') throw refusal(`${path}.name`, 'must not be empty');
  return {
    id: textAt(block['id'], `${path}.id`),
    name,
    argumentsJson: writeJson(fieldsAt(block['input'] ?? {}, `${path}.input`)).toWellFormed(),
  };
}

function resultTurn(block: RequestBlock, path: string, reading: Reading): Turn {
  const id = textAt(block['tool_use_id'], `${path}.tool_use_id`);
  const name = reading.names.get(id);
  const [first = '', ...rest] = resultParts(block['content'], `${path}.content`, reading);
  // Templates cannot express a failed tool, so the text does.
  const opening = typeof first === 'string' ? [first] : ['', first];
  if (block['is_error'] === true && !/^\s*error/i.test(String(opening[0])))
    opening[0] = `Error: ${String(opening[0])}`;
  return {
    role: 'tool',
    ...mixed([...opening, ...rest], BLOCK_SEPARATOR),
    toolCallId: id,
    ...(name === undefined ? {} : { name }),
  };
}

function resultParts(content: unknown, path: string, reading: Reading): (string | FoundMedium)[] {
  return readBlocks(content, path, (block, at) => {
    if (isText(block)) return readText(block, at);
    const { type, source } = block;
    const image = type === 'image' && isFields(source) ? resultImage(imageUrl(source), reading.takes) : null;
    return image ?? reading.omissions.stand(at, typeAt(block, at));
  });
}

const innerText = (content: unknown, path: string): string =>
  readBlocks(content, path, readText).join(BLOCK_SEPARATOR);

function readBlocks<T>(
  content: unknown,
  path: string,
  read: (block: Readonly<Record<string, unknown>>, path: string) => T,
): (T | string)[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [content.toWellFormed()];
  if (!Array.isArray(content)) throw refusal(path, 'must be a string or a list of blocks');
  return content.map((block: unknown, index) =>
    read(fieldsAt(block, `${path}[${index}]`), `${path}[${index}]`),
  );
}

function asBlocks(content: Content): readonly RequestBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

const TEXTS: readonly unknown[] = ['text', 'document', 'search_result', 'tool_reference'];

function isText({ type, source }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'document')
    return isFields(source) && ['text', 'content'].some((type) => type === source['type']);
  return TEXTS.includes(type);
}

const isOfProvider = (type: unknown): boolean =>
  typeof type === 'string' && /_tool_(?:use|result)$/.test(type);

function readText(block: Readonly<Record<string, unknown>>, path: string): string {
  switch (block['type']) {
    case 'text':
      return textAt(block['text'], `${path}.text`);
    case 'document':
      return documentText(block, path);
    case 'search_result':
      return innerText(block['content'], `${path}.content`);
    case 'tool_reference':
      return textAt(block['tool_name'], `${path}.tool_name`);
    case 'image':
      throw refusal(path, IMAGE_UNREAD);
    default:
      throw refusal(path, `is of type ${shown(typeAt(block, path))}, which is not served here; send text`);
  }
}

function documentText(block: Readonly<Record<string, unknown>>, path: string): string {
  const source = fieldsAt(block['source'], `${path}.source`);
  const title =
    typeof block['title'] === 'string' ? `${block['title'].toWellFormed()}${BLOCK_SEPARATOR}` : '';
  if (source['type'] === 'text') return title + textAt(source['data'], `${path}.source.data`);
  if (source['type'] === 'content') return title + innerText(source['content'], `${path}.source.content`);
  throw refusal(path, `is a document of type ${shown(typeAt(source, `${path}.source`))}; send its text`);
}
