/**
 * The output of a response and its stream events: each item is added, sent in deltas, and done before the next one
 * begins. A complete answer is the same output at its end.
 */
import type { AnswerEvent, CallEvent } from '../../chat/choice-guard.ts';
import type { ContentEvent } from '../../../../wire/responses/events.ts';
import type {
  CustomCallItem,
  FunctionCallItem,
  ItemStatus,
  MessageItem,
  OutputItem,
  ReasoningItem,
} from '../../../../wire/responses/items.ts';
import type { Turn } from '../../../../contract/job.ts';
import { compactionItem } from './compaction.ts';
import type { SortedTools } from './client-tools.ts';
import { sealText } from '../sealed-turns.ts';
import { newId } from './item-words.ts';

type Unnumbered<E> = E extends unknown ? Omit<E, 'sequence_number'> : never;
export type OutputEvent = Unnumbered<ContentEvent>;

export interface OutputOptions {
  readonly tools: Pick<SortedTools, 'custom' | 'namespaced'>;
  /** Thinking is repeated in an encoded form that clients send back unread. */
  readonly sealsThinking: boolean;
}

type Speaking = 'text' | 'reasoning';

export class Output {
  readonly items: OutputItem[] = [];
  readonly #options: OutputOptions;
  #open: { readonly type: Speaking; readonly id: string; text: string } | null = null;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  take(event: AnswerEvent): OutputEvent[] {
    switch (event.type) {
      case 'queued':
      case 'progress':
      case 'prompt_tokens':
        return [];
      case 'started':
        return event.compaction?.turns === undefined ? [] : this.compacted(event.compaction.turns);
      case 'text':
      case 'reasoning':
        return event.text === '' ? [] : this.#say(event.type, event.text);
      case 'call':
        return [...this.#close('completed'), ...this.#call(event)];
      case 'done':
        return this.#close(event.finishReason === 'length' ? 'incomplete' : 'completed');
    }
  }

  compacted(turns: readonly Turn[]): OutputEvent[] {
    const item = compactionItem(turns);
    const output_index = this.items.length;
    this.items.push(item);
    return [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ];
  }

  #say(type: Speaking, text: string): OutputEvent[] {
    const opening = this.#open?.type === type ? [] : [...this.#close('completed'), ...this.#begin(type)];
    const open = this.#open;
    if (open === null) throw new Error('no item is open');
    open.text += text;
    const at = { item_id: open.id, output_index: this.items.length, content_index: 0 };
    const delta: OutputEvent =
      type === 'text'
        ? { type: 'response.output_text.delta', ...at, delta: text, logprobs: [] }
        : { type: 'response.reasoning_text.delta', ...at, delta: text };
    return [...opening, delta];
  }

  #begin(type: Speaking): OutputEvent[] {
    const id = newId(type === 'text' ? 'msg' : 'rs');
    this.#open = { type, id, text: '' };
    const output_index = this.items.length;
    const empty = { ...this.#item(type, id, '', 'in_progress'), content: [] };
    return [
      { type: 'response.output_item.added', output_index, item: empty },
      {
        type: 'response.content_part.added',
        item_id: id,
        output_index,
        content_index: 0,
        part: part(type, ''),
      },
    ];
  }

  #close(status: ItemStatus): OutputEvent[] {
    if (this.#open === null) return [];
    const { type, id, text } = this.#open;
    this.#open = null;
    const output_index = this.items.length;
    const at = { item_id: id, output_index, content_index: 0 };
    const item = this.#item(type, id, text, status);
    this.items.push(item);
    return [
      type === 'text'
        ? { type: 'response.output_text.done', ...at, text, logprobs: [] }
        : { type: 'response.reasoning_text.done', ...at, text },
      { type: 'response.content_part.done', ...at, part: part(type, text) },
      { type: 'response.output_item.done', output_index, item },
    ];
  }

  #item(type: Speaking, id: string, text: string, status: ItemStatus): MessageItem | ReasoningItem {
    if (type === 'text')
      return { id, type: 'message', status, role: 'assistant', content: [{ ...part('text', text) }] };
    return {
      id,
      type: 'reasoning',
      status,
      summary: [],
      content: [{ ...part('reasoning', text) }],
      ...(this.#options.sealsThinking ? { encrypted_content: sealText(text) } : {}),
    };
  }

  #call(call: CallEvent): OutputEvent[] {
    return this.#options.tools.custom.has(call.name) ? this.#customCall(call) : this.#functionCall(call);
  }

  #named(name: string): { name: string; namespace?: string } {
    return this.#options.tools.namespaced.get(name) ?? { name };
  }

  #functionCall({ id: call_id, name: called, pieces }: CallEvent): OutputEvent[] {
    const tool = this.#named(called);
    const output_index = this.items.length;
    const item: FunctionCallItem = {
      id: newId('fc'),
      type: 'function_call',
      status: 'completed',
      call_id,
      ...tool,
      arguments: pieces.join(''),
    };
    this.items.push(item);
    const at = { item_id: item.id, output_index };
    return [
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, status: 'in_progress', arguments: '' },
      },
      ...pieces.map((delta): OutputEvent => {
        return { type: 'response.function_call_arguments.delta', ...at, delta };
      }),
      { type: 'response.function_call_arguments.done', ...at, name: tool.name, arguments: item.arguments },
      { type: 'response.output_item.done', output_index, item },
    ];
  }

  #customCall({ id: call_id, name: called, pieces }: CallEvent): OutputEvent[] {
    const output_index = this.items.length;
    const { input } = JSON.parse(pieces.join('')) as { input: string };
    const item: CustomCallItem = {
      id: newId('ctc'),
      type: 'custom_tool_call',
      status: 'completed',
      call_id,
      ...this.#named(called),
      input,
    };
    this.items.push(item);
    const at = { item_id: item.id, output_index };
    return [
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, status: 'in_progress', input: '' },
      },
      { type: 'response.custom_tool_call_input.delta', ...at, delta: input },
      { type: 'response.custom_tool_call_input.done', ...at, input },
      { type: 'response.output_item.done', output_index, item },
    ];
  }
}

function part<T extends Speaking>(
  type: T,
  text: string,
): T extends 'text' ? MessageItem['content'][number] : ReasoningItem['content'][number];
function part(
  type: Speaking,
  text: string,
): MessageItem['content'][number] | ReasoningItem['content'][number] {
  return type === 'text'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'reasoning_text', text };
}
