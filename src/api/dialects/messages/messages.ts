/**
 * api/dialects/messages owns POST /v1/messages and its count of tokens: Anthropic's Messages dialect over the one use
 * case of chat. It knows nothing of sockets, headers or engines.
 */
import { parseSpelled } from '../../../lib/json/parse-spelled.ts';
import { randomBytes } from 'node:crypto';
import type { AnswerBlock } from '../../../wire/messages/blocks.ts';
import type {
  CountTokensRequest,
  CountTokensResponse,
  MessagesRequest,
} from '../../../wire/messages/request.ts';
import type { MessagesResponse } from '../../../wire/messages/response.ts';
import type { Caller } from '../../caller.ts';
import { acceptChat, type AcceptedChat, type ChatPorts } from '../../chat/chat.ts';
import type { AnswerPart } from '../../chat/collected.ts';
import type { RequestNotes } from '../../chat/request-notes.ts';
import { wireGuards } from '../../generation/usage.ts';
import type { StreamItem } from '../../generation/stream-item.ts';
import { signatureOf, wireCallId, wireStop, wireUsage } from './answer-words.ts';
import { isFields } from '../fields.ts';
import { asksSummary, compactionBlocks, wireApplied } from './context-management.ts';
import { type AskedMessage, EventWriter, type MessageHead } from './event-writer.ts';
import { readCount, readRequest } from './read-request.ts';

export interface CountedTokens {
  readonly understood: RequestNotes;
  readonly body: CountTokensResponse;
}

export interface MessagesUseCases {
  /** Everything that can be refused without the engine is refused here. */
  accept(body: MessagesRequest, caller: Caller): Promise<AcceptedMessages>;
  count(body: CountTokensRequest, caller: Caller): Promise<CountedTokens>;
}

export function messagesUseCases(ports: ChatPorts): MessagesUseCases {
  return {
    accept: async (body, caller) =>
      new AcceptedMessages(await acceptChat(ports, readRequest(body), caller), {
        maxTokens: body.max_tokens,
        asksEdits: isFields(body.context_management),
        asksSummary: asksSummary(body.context_management),
      }),
    count: async (body, caller) => {
      const chat = await acceptChat(ports, readCount(body), caller);
      if (!isFields(body.context_management)) {
        const { promptTokens } = await chat.explained();
        return { understood: chat.understood, body: { input_tokens: promptTokens } };
      }
      const { before, after } = await chat.compacted(false);
      return {
        understood: chat.understood,
        body: { input_tokens: after, context_management: { original_input_tokens: before } },
      };
    },
  };
}

/** A request that may run; it runs once, in one of these ways. */
export class AcceptedMessages {
  readonly #chat: AcceptedChat;
  readonly #asked: AskedMessage;

  constructor(chat: AcceptedChat, asked: AskedMessage) {
    this.#chat = chat;
    this.#asked = asked;
  }

  get understood(): RequestNotes {
    return this.#chat.understood;
  }

  async whole(): Promise<{ readonly body: MessagesResponse; readonly numCtx: number }> {
    const { answers, numCtx } = await this.#chat.whole();
    const [{ parts, done }] = answers;
    return {
      numCtx,
      body: {
        ...this.#head(),
        type: 'message',
        role: 'assistant',
        content: [...compactionBlocks(this.#asked.asksSummary, done.compaction), ...parts.map(wireBlock)],
        ...wireStop(done, { maxTokens: this.#asked.maxTokens, numCtx }),
        usage: wireUsage(done.usage),
        ...wireApplied(this.#asked.asksEdits, done.compaction),
        ...wireGuards(done),
      },
    };
  }

  stream(): AsyncGenerator<StreamItem, void, void> {
    return this.#chat.stream(async () => {
      const writer = new EventWriter(this.#head(), this.#asked);
      return (_index, event) => writer.eventsOf(event);
    });
  }

  #head(): MessageHead {
    return { id: `msg_${randomBytes(12).toString('hex')}`, model: this.#chat.choices.model.id };
  }
}

function wireBlock(part: AnswerPart): AnswerBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'reasoning':
      return { type: 'thinking', thinking: part.text, signature: signatureOf(part.text) };
    case 'call': {
      const input = parseSpelled(part.pieces.join('')) as Record<string, unknown>;
      return { type: 'tool_use', id: wireCallId(part.id), name: part.name, input };
    }
  }
}
