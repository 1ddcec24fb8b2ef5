import type { Compaction, DoneEvent } from '../../../../contract/job-event.ts';
import type { AnswerBlock } from '../../../../wire/messages/blocks.ts';
import type { BlockDelta, MessagesEvent, MessagesResponse } from '../../../../wire/messages/response.ts';
import type { AnswerEvent, CallEvent } from '../../chat/choice-guard.ts';
import { wireGuards } from '../../generation/usage.ts';
import { compactionBlocks, wireApplied } from './context-management.ts';
import { thinkingSignature, wireCallId, wireStop, wireUsage } from './answer-words.ts';

export type MessageHead = Pick<MessagesResponse, 'id' | 'model'>;

export interface AskedMessage {
  readonly maxTokens: number;
  readonly asksEdits: boolean;
  readonly asksSummary: boolean;
}

export class EventWriter {
  readonly #head: MessageHead;
  readonly #asked: AskedMessage;
  #numCtx = 0;
  /** The open block; the signature of thinking is computed from its text. */
  #open: { readonly type: 'text' | 'thinking'; text: string } | null = null;
  #blocks = 0;

  constructor(head: MessageHead, asked: AskedMessage) {
    this.#head = head;
    this.#asked = asked;
  }

  write(event: AnswerEvent): MessagesEvent[] {
    switch (event.type) {
      case 'queued':
      case 'progress':
      case 'prompt_tokens':
        return [];
      case 'started':
        this.#numCtx = event.numCtx;
        return [
          { type: 'message_start', message: this.#opening(event) },
          { type: 'ping' },
          ...this.#compacted(event.compaction),
        ];
      case 'text':
        return this.#say('text', event.text, { type: 'text_delta', text: event.text });
      case 'reasoning':
        return this.#say('thinking', event.text, { type: 'thinking_delta', thinking: event.text });
      case 'call':
        return [...this.#close(), ...this.#call(event)];
      case 'done':
        return [...this.#close(), ...this.#last(event)];
    }
  }

  #compacted(compaction: Compaction | undefined): MessagesEvent[] {
    return compactionBlocks(this.#asked.asksSummary, compaction).flatMap(
      ({ content, encrypted_content }): MessagesEvent[] => {
        const index = this.#blocks;
        this.#blocks += 1;
        const empty = { type: 'compaction', content: null, encrypted_content: null } as const;
        return [
          { type: 'content_block_start', index, content_block: empty },
          {
            type: 'content_block_delta',
            index,
            delta: { type: 'compaction_delta', content, encrypted_content },
          },
          { type: 'content_block_stop', index },
        ];
      },
    );
  }

  #opening({ promptTokens, cachedTokens }: { readonly promptTokens: number; readonly cachedTokens: number }) {
    return {
      ...this.#head,
      type: 'message' as const,
      role: 'assistant' as const,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: wireUsage({ promptTokens, cachedTokens, completionTokens: 0 }),
    };
  }

  #say(type: 'text' | 'thinking', text: string, delta: BlockDelta): MessagesEvent[] {
    if (text === '') return [];
    const opening = this.#open?.type === type ? [] : [...this.#close(), this.#begin(type)];
    if (this.#open !== null) this.#open.text += text;
    return [...opening, { type: 'content_block_delta', index: this.#blocks, delta }];
  }

  #begin(type: 'text' | 'thinking'): MessagesEvent {
    this.#open = { type, text: '' };
    const block: AnswerBlock = type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' };
    return { type: 'content_block_start', index: this.#blocks, content_block: block };
  }

  #close(): MessagesEvent[] {
    if (this.#open === null) return [];
    const { type, text } = this.#open;
    const index = this.#blocks;
    this.#open = null;
    this.#blocks += 1;
    const signature: MessagesEvent = {
      type: 'content_block_delta',
      index,
      delta: { type: 'signature_delta', signature: thinkingSignature(text) },
    };
    return [...(type === 'thinking' ? [signature] : []), { type: 'content_block_stop', index }];
  }

  #call({ id, name, pieces }: CallEvent): MessagesEvent[] {
    const index = this.#blocks;
    this.#blocks += 1;
    const block: AnswerBlock = { type: 'tool_use', id: wireCallId(id), name, input: {} };
    return [
      { type: 'content_block_start', index, content_block: block },
      ...pieces.map((piece): MessagesEvent => {
        const delta = { type: 'input_json_delta' as const, partial_json: piece };
        return { type: 'content_block_delta', index, delta };
      }),
      { type: 'content_block_stop', index },
    ];
  }

  #last(event: DoneEvent): MessagesEvent[] {
    const { maxTokens, asksEdits } = this.#asked;
    const delta = wireStop(event, { maxTokens, numCtx: this.#numCtx });
    const usage = wireUsage(event.usage);
    const applied = wireApplied(asksEdits, event.compaction);
    return [
      { type: 'message_delta', delta, usage, ...applied, ...wireGuards(event) },
      { type: 'message_stop' },
    ];
  }
}
