/**
 * server/api/dialects/responses owns POST /v1/responses and the later requests about a response: OpenAI's Responses dialect
 * of the chat use case. It knows nothing of sockets, headers, files or engines.
 */
import { refusal } from '../../../../lib/errors/refusal.ts';
import { promptTurns } from '../../../../contract/job.ts';
import { fail } from '../../../../lib/errors/svc-error.ts';
import type { InputItem } from '../../../../wire/responses/items.ts';
import type {
  CompactRequest,
  InputTokensRequest,
  ItemsQuery,
  ResponsesRequest,
} from '../../../../wire/responses/request.ts';
import type {
  CancelledResponse,
  CompactedResponse,
  DeletedResponse,
  InputTokens,
  ItemList,
  ResponseBody,
} from '../../../../wire/responses/response.ts';
import type { Caller } from '../../caller.ts';
import type { RequestPlan } from '../../chat/accepted-request.ts';
import { type ChatPorts, compactedChat, explain, planChat } from '../../chat/chat.ts';
import { headEnd } from '../../chat/compaction/context-edits.ts';
import type { RequestNotes } from '../../chat/request-notes.ts';
import { wireCompaction } from '../../generation/usage.ts';
import { compactionItem, messageItem } from './compaction.ts';
import { newId, wireUsage } from './item-words.ts';
import { KeptResponses, type ResponseKeeper } from './kept.ts';
import { INCLUDES_THINKING, readCompact, readCount, readRequest } from './read-request.ts';
import { ResponseRun } from './response-run.ts';
import { readItems } from './turns.ts';

export interface ResponsesUseCases {
  accept(body: ResponsesRequest, caller: Caller): Promise<ResponseRun>;
  countTokens(
    body: InputTokensRequest,
    caller: Caller,
  ): Promise<{ readonly understood: RequestNotes; readonly body: InputTokens }>;
  compact(
    body: CompactRequest,
    caller: Caller,
  ): Promise<{ readonly understood: RequestNotes; readonly body: CompactedResponse }>;
  /** These three throw `response_not_found`, or `responses_not_kept` if nothing is stored. */
  get(id: string, owner: string): Promise<ResponseBody>;
  inputItems(id: string, owner: string, query: ItemsQuery): Promise<ItemList>;
  delete(id: string, owner: string): Promise<DeletedResponse>;
  cancel(id: string, owner: string): Promise<CancelledResponse>;
}

export function responsesUseCases(ports: ChatPorts, keeper: ResponseKeeper | null): ResponsesUseCases {
  const kept = new KeptResponses(keeper);
  const unixSeconds = () => Math.floor(ports.clock.unixMs() / 1000);
  const history = async (body: InputTokensRequest, owner: string): Promise<InputItem[]> => {
    const before = body.previous_response_id ?? null;
    const earlier = before === null ? [] : await kept.conversation(owner, before);
    return [...earlier, ...readItems(body.input)];
  };
  return {
    async accept(body, caller) {
      const items = await history(body, caller.owner);
      const { ask, tools } = readRequest(body, items);
      const id = newId('resp');
      const stop = new AbortController();
      const isBackground = body.background === true;
      if (isBackground && !kept.isOn) throw fail('responses_not_kept', { param: 'background' });
      // No client waits for a background response, so a disconnect does not end it.
      const signal = isBackground ? stop.signal : AbortSignal.any([caller.signal, stop.signal]);
      const plan = await planChat(ports, ask, { ...caller, signal });
      const sealsThinking = (body.include ?? []).includes(INCLUDES_THINKING);
      return new ResponseRun(ports.engine, plan, {
        body,
        items,
        kept,
        owner: caller.owner,
        head: {
          id,
          createdAt: unixSeconds(),
          model: plan.choices.model.id,
          store: kept.isOn && body.store !== false,
          sampling: plan.choices.jobs[0]?.sampling ?? {},
        },
        unixSeconds,
        gone: caller.signal,
        output: { tools, sealsThinking },
        stop: () => stop.abort(),
        hold: caller.hold ?? (() => () => undefined),
      });
    },
    async countTokens(body, caller) {
      const { ask } = readCount(body, await history(body, caller.owner));
      const plan = await planChat(ports, ask, caller);
      const { promptTokens } = await explain(ports.engine, plan);
      return {
        understood: plan.understood,
        body: { object: 'response.input_tokens', input_tokens: promptTokens },
      };
    },
    async compact(body, caller) {
      const items = await history(body, caller.owner);
      const { ask } = readCompact(body, items);
      const plan = await planChat(ports, ask, caller);
      const whole = { mayGenerate: true, edits: [WHOLE_SUMMARY] };
      const { compaction } = await compactedChat(ports, plan, whole);
      if (compaction?.turns === undefined) throw notCompacted(plan);
      const { summaryUsage = NO_USAGE } = compaction;
      return {
        understood: plan.understood,
        body: {
          id: newId('resp'),
          object: 'response.compaction',
          created_at: unixSeconds(),
          output: [
            ...items.filter(({ role }) => role === 'user').map(messageItem),
            { ...compactionItem(compaction.turns) },
          ],
          usage: wireUsage(summaryUsage),
          svc_compaction: wireCompaction(compaction),
        },
      };
    },
    get: (id, owner) => kept.response(owner, id),
    inputItems: async (id, owner, query) => page(await kept.input(owner, id), query),
    async delete(id, owner) {
      await kept.delete(owner, id);
      return { id, object: 'response', deleted: true };
    },
    async cancel(id, owner) {
      if (kept.stop(owner, id)) return { id, object: 'response', status: 'cancelled' };
      const { status } = await kept.response(owner, id);
      throw fail('invalid_request', {
        param: 'id',
        message: `Response ${id} is ${status} and cannot be cancelled; only one that runs can.`,
      });
    },
  };
}

const WHOLE_SUMMARY = { kind: 'summary', trigger: { of: 'tokens', value: 0 }, ofAll: true } as const;
const NO_USAGE = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };

function notCompacted({ choices }: RequestPlan): Error {
  const turns = promptTurns(choices.jobs[0]?.prompt);
  if (turns.length <= headEnd(turns))
    throw refusal('input', 'is too short to be compacted; send more than the first message');
  return fail('answer_invalid', { what: 'The summary', reason: 'the model wrote none' });
}

const PAGE = 20;

function page(items: readonly InputItem[], { order = 'desc', limit, after }: ItemsQuery): ItemList {
  const ordered = order === 'asc' ? [...items] : items.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex((item) => item['id'] === after) + 1;
  const count = Math.min(Number(limit ?? PAGE), 100);
  const data = ordered.slice(from, from + count);
  const itemId = (item: InputItem | undefined): string | null =>
    item === undefined ? null : String(item['id']);
  return {
    object: 'list',
    data,
    first_id: itemId(data[0]),
    last_id: itemId(data.at(-1)),
    has_more: from + count < ordered.length,
  };
}
