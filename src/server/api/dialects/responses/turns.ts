import { isFields } from '../../../../lib/base/json.ts';
import { refusal } from '../../../../lib/errors/refusal.ts';
import type { ToolCallTurn, Turn } from '../../../../contract/job.ts';
import type { InputItem } from '../../../../wire/responses/items.ts';
import { orderResults } from '../../intake/result-order.ts';
import { fieldsAt, shown, textAt, typeAt } from '../fields.ts';
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
  resultImage,
  type Takes,
  type Omissions,
} from '../media.ts';
import type { SortedTools } from './client-tools.ts';
import { openSealed, openTurns } from '../sealed-turns.ts';

const SEPARATOR = '\n\n';

interface PendingTurn {
  role: 'assistant';
  content: string;
  reasoning: string;
  toolCalls: ToolCallTurn[];
}

export function readTurns(
  instructions: string | null,
  items: readonly InputItem[],
  {
    namespaced,
    takes,
    omissions,
  }: Pick<SortedTools, 'namespaced'> & { readonly takes: Takes; readonly omissions: Omissions },
): Turn[] {
  const reader = new ItemReader(namespaced, takes, omissions);
  for (const [index, item] of items.entries()) reader.read(item, `input[${index}]`);
  const system: Turn[] =
    instructions === null || instructions === ''
      ? []
      : [{ role: 'system', content: instructions.toWellFormed() }];
  return orderResults(joinOpening([...system, ...reader.turns()]));
}

class ItemReader {
  readonly #turns: (Turn | PendingTurn)[] = [];
  readonly #names = new Map<string, string>();
  readonly #namespaced: SortedTools['namespaced'];
  readonly #takes: Takes;
  readonly #omissions: Omissions;

  constructor(namespaced: SortedTools['namespaced'], takes: Takes, omissions: Omissions) {
    this.#omissions = omissions;
    this.#namespaced = namespaced;
    this.#takes = takes;
  }

  read(item: InputItem, path: string): void {
    switch (item['type']) {
      case undefined:
      case 'message':
        return this.#message(item, path);
      case 'reasoning':
        return this.#reasoning(item, path);
      case 'function_call':
        return this.#call(item, path, textAt(item['arguments'] ?? '{}', `${path}.arguments`));
      case 'custom_tool_call': {
        const input = textAt(item['input'], `${path}.input`);
        return this.#call(item, path, JSON.stringify({ input }));
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#output(item, path);
      case 'compaction':
      case 'compaction_summary':
        return this.#compaction(item, path);
      default:
        // Agents send calls and marks of the provider's own tools again with every turn.
        this.#omissions.leave(path, typeAt(item, path));
    }
  }

  turns(): Turn[] {
    return this.#turns.map((turn) => {
      if (!('toolCalls' in turn) || !('reasoning' in turn)) return turn;
      const { role, content, reasoning = '', toolCalls = [] } = turn;
      return {
        role,
        content,
        ...(reasoning === '' ? {} : { reasoning }),
        ...(toolCalls.length === 0 ? {} : { toolCalls }),
      };
    });
  }

  #message(item: InputItem, path: string): void {
    if (item['role'] === 'user') {
      this.#turns.push({ role: 'user', ...mixedContent(item['content'], `${path}.content`, this.#takes) });
      return;
    }
    const text = contentText(item['content'], `${path}.content`, this.#omissions);
    switch (item['role']) {
      case 'system':
      case 'developer':
        this.#turns.push({ role: 'system', content: text });
        return;
      case 'assistant':
        this.#said(({ toolCalls }) => toolCalls.length === 0).content += text;
        return;
      default:
        throw refusal(`${path}.role`, 'must be one of user, assistant, system, developer');
    }
  }

  #reasoning(item: InputItem, path: string): void {
    const said = this.#said(({ content, toolCalls }) => content === '' && toolCalls.length === 0);
    said.reasoning += reasoningText(item, path, this.#omissions);
  }

  #call(item: InputItem, path: string, argumentsJson: string): void {
    const name = this.#modelName(textAt(item['name'], `${path}.name`), item['namespace']);
    if (name === '') throw refusal(`${path}.name`, 'must not be empty');
    const id = textAt(item['call_id'], `${path}.call_id`);
    this.#names.set(id, name);
    this.#said(() => true).toolCalls.push({ id, name, argumentsJson });
  }

  #modelName(name: string, namespace: unknown): string {
    if (typeof namespace !== 'string') return name;
    const found = [...this.#namespaced].find(
      ([, tool]) => tool.name === name && tool.namespace === namespace,
    );
    return found?.[0] ?? name;
  }

  #output(item: InputItem, path: string): void {
    const id = textAt(item['call_id'], `${path}.call_id`);
    const name = this.#names.get(id);
    this.#turns.push({
      role: 'tool',
      ...this.#found(item['output'], `${path}.output`),
      toolCallId: id,
      ...(name === undefined ? {} : { name }),
    });
  }

  #found(output: unknown, path: string): MixedText {
    if (!Array.isArray(output)) return { content: contentText(output, path) };
    return mixed(
      output.map((each: unknown, index) => {
        const at = `${path}[${index}]`;
        const part = fieldsAt(each, at);
        if (TEXTS.includes(part['type'])) return partText(part, at);
        const image = part['type'] === 'input_image' ? resultImage(part['image_url'], this.#takes) : null;
        return image ?? this.#omissions.stand(at, typeAt(part, at));
      }),
    );
  }

  #compaction(item: InputItem, path: string): void {
    const turns = openTurns(item['encrypted_content']);
    if (turns === null) return this.#omissions.leave(path, typeAt(item, path));
    const system = this.#turns.filter(({ role }) => role === 'system');
    this.#turns.splice(0, this.#turns.length, ...system, ...turns.map(whole));
    for (const { id, name } of turns.flatMap(({ toolCalls = [] }) => toolCalls)) this.#names.set(id, name);
  }

  #said(fits: (said: PendingTurn) => boolean): PendingTurn {
    const last = this.#turns.at(-1);
    if (last !== undefined && isSaid(last) && fits(last)) return last;
    const said: PendingTurn = { role: 'assistant', content: '', reasoning: '', toolCalls: [] };
    this.#turns.push(said);
    return said;
  }
}

function whole(turn: Turn): Turn | PendingTurn {
  if (turn.role !== 'assistant') return turn;
  const { content, reasoning = '', toolCalls = [] } = turn;
  return { role: 'assistant', content, reasoning, toolCalls: [...toolCalls] };
}

const isSaid = (turn: Turn | PendingTurn): turn is PendingTurn => turn.role === 'assistant';

/** Templates expect one system prompt, so opening instructions and developer messages are joined. */
function joinOpening(turns: readonly Turn[]): Turn[] {
  const end = turns.findIndex(({ role }) => role !== 'system');
  const opening = turns.slice(0, end < 0 ? turns.length : end);
  if (opening.length < 2) return [...turns];
  const content = opening.map((turn) => turn.content).join(SEPARATOR);
  return [{ role: 'system', content }, ...turns.slice(opening.length)];
}

function reasoningText(item: InputItem, path: string, omissions: Omissions): string {
  const { content, encrypted_content: sealed } = item;
  if (Array.isArray(content) && content.length > 0) return contentText(content, `${path}.content`, omissions);
  return typeof sealed === 'string' ? openSealed(sealed) : '';
}

function mixedContent(content: unknown, path: string, takes: Takes): MixedText {
  if (!Array.isArray(content)) return { content: contentText(content, path) };
  return mixed(
    content.map((each: unknown, index) => {
      const at = `${path}[${index}]`;
      const part = fieldsAt(each, at);
      if (part['type'] === 'input_audio' && takes('audio')) return readAudio(part, at);
      if (part['type'] !== 'input_image' || !takes('image')) return partText(part, at);
      const image = imageAt(part['image_url'], takes);
      if (image === null) throw refusal(`${at}.image_url`, IMAGE_REMEDY);
      return image;
    }),
  );
}

function readAudio(part: Readonly<Record<string, unknown>>, path: string): FoundMedium {
  const { data, format } = fieldsAt(part['input_audio'], `${path}.input_audio`);
  const audio = inlineAudio(data, format);
  if (audio === null) throw refusal(`${path}.input_audio`, AUDIO_REMEDY);
  return audio;
}

function contentText(content: unknown, path: string, omissions?: Omissions): string {
  if (typeof content === 'string') return content.toWellFormed();
  if (!Array.isArray(content)) throw refusal(path, 'must be a string or a list of parts');
  return content
    .map((part: unknown, index) => {
      const at = `${path}[${index}]`;
      const fields = fieldsAt(part, at);
      if (omissions === undefined || TEXTS.includes(fields['type'])) return partText(fields, at);
      return omissions.stand(at, typeAt(fields, at));
    })
    .join('');
}

const TEXTS: readonly unknown[] = ['input_text', 'output_text', 'reasoning_text', 'text', 'refusal'];

function partText(part: Readonly<Record<string, unknown>>, path: string): string {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'reasoning_text':
    case 'text':
      return textAt(part['text'], `${path}.text`);
    case 'refusal':
      return textAt(part['refusal'], `${path}.refusal`);
    case 'input_image':
      throw refusal(path, IMAGE_UNREAD);
    case 'input_audio':
      throw refusal(path, AUDIO_UNREAD);
    default:
      throw refusal(path, `is of type ${shown(typeAt(part, path))}; only text is served here`);
  }
}

export function readItems(input: string | InputItem[] | null | undefined): InputItem[] {
  if (input === null || input === undefined) return [];
  if (typeof input !== 'string') return input.filter(isFields);
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}
