/**
 * server/api/dialects/messages owns POST /v1/messages and its count of tokens: Anthropic's Messages dialect over the one use
 * case of chat. It knows nothing of sockets, headers or engines.
 */
import { isFields } from '../../../../lib/base/json.ts';
import { parseSpelled } from '../../../../lib/json/parse-spelled.ts';
import { randomBytes } from 'node:crypto';
import type { AnswerBlock } from '../../../../wire/messages/blocks.ts';
import type {
  CountTokensRequest,
  CountTokensResponse,
  MessagesRequest,
} from '../../../../wire/messages/request.ts';
import type { MessagesResponse } from '../../../../wire/messages/response.ts';
import type { Caller } from '../../caller.ts';
import { type AnswerDialect, AcceptedRequest } from '../../chat/accepted-request.ts';
import { type ChatPorts, compactedChat, explain, planChat } from '../../chat/chat.ts';
import type { AnswerPart } from '../../chat/collected.ts';
import type { RequestNotes } from '../../chat/request-notes.ts';
import { wireGuards } from '../../generation/usage.ts';
import { thinkingSignature, wireCallId, wireStop, wireUsage } from './answer-words.ts';
import { asksSummary, compactionBlocks, wireApplied } from './context-management.ts';
import { type AskedMessage, EventWriter, type MessageHead } from './event-writer.ts';
import { readCount, readRequest } from './read-request.ts';
import type { ModelEntry, ModelList } from '../../../../wire/models.ts';

export interface CountedTokens {
  readonly understood: RequestNotes;
  readonly body: CountTokensResponse;
}

export interface MessagesUseCases {
  accept(body: MessagesRequest, caller: Caller): Promise<AcceptedRequest<MessagesResponse>>;
  count(body: CountTokensRequest, caller: Caller): Promise<CountedTokens>;
}

export function messagesUseCases(ports: ChatPorts): MessagesUseCases {
  return {
    accept: async (body, caller) => {
      const plan = await planChat(ports, readRequest(body), caller);
      return new AcceptedRequest(ports.engine, plan, answers(plan.choices.model.id, body));
    },
    count: async (body, caller) => {
      const plan = await planChat(ports, readCount(body), caller);
      const { understood } = plan;
      if (!isFields(body.context_management)) {
        const { promptTokens } = await explain(ports.engine, plan);
        return { understood, body: { input_tokens: promptTokens } };
      }
      const { before, after } = await compactedChat(ports, plan, { mayGenerate: false });
      return {
        understood,
        body: { input_tokens: after, context_management: { original_input_tokens: before } },
      };
    },
  };
}

function answers(model: string, body: MessagesRequest): AnswerDialect<MessagesResponse> {
  const asked: AskedMessage = {
    maxTokens: body.max_tokens,
    asksEdits: isFields(body.context_management),
    asksSummary: asksSummary(body.context_management),
  };
  const head = (): MessageHead => ({ id: `msg_${randomBytes(12).toString('hex')}`, model });
  return {
    whole: ({ answers: [{ parts, done }], numCtx }) => ({
      ...head(),
      type: 'message',
      role: 'assistant',
      content: [...compactionBlocks(asked.asksSummary, done.compaction), ...parts.map(wireBlock)],
      ...wireStop(done, { maxTokens: asked.maxTokens, numCtx }),
      usage: wireUsage(done.usage),
      ...wireApplied(asked.asksEdits, done.compaction),
      ...wireGuards(done),
    }),
    writer: () => {
      const writer = new EventWriter(head(), asked);
      return (_index, event) => writer.write(event);
    },
  };
}

function wireBlock(part: AnswerPart): AnswerBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'reasoning':
      return { type: 'thinking', thinking: part.text, signature: thinkingSignature(part.text) };
    case 'call': {
      const input = parseSpelled(part.pieces.join('')) as Record<string, unknown>;
      return { type: 'tool_use', id: wireCallId(part.id), name: part.name, input };
    }
  }
}

export function withModelInfo(entry: ModelEntry): ModelEntry {
  const { id, created = 0, context_length = null } = entry;
  return {
    ...entry,
    type: 'model',
    display_name: id,
    created_at: new Date(created * 1000).toISOString(),
    // The dialect puts features here that only Anthropic has.
    capabilities: null,
    max_input_tokens: context_length,
    max_tokens: context_length,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  };
}

export function withModelInfos({ object, data }: ModelList): ModelList {
  const ids = data.map(({ id }) => id);
  return {
    object,
    data: data.map(withModelInfo),
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
    has_more: false,
  };
}
