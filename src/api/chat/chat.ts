/** POST /v1/chat/completions: prepare (every refusal), then answer whole or as a stream. */
import { randomBytes } from 'node:crypto';
import type { DoneEvent as Done, SampledToken } from '../../contract/job-event.ts';
import { type ChatChunk, type ChatDelta, ChatRequest, type ChatResponse } from '../../wire/inference/chat.ts';
import { answerHead } from '../generation/answer-head.ts';
import { chatShape, idleFields, speaksOpenAi } from './chat-shape.ts';
import { ChoiceGuard, type DeliveredCall, type DeliveredEvent } from './choice-guard.ts';
import { runChoices } from '../generation/choices.ts';
import { wireFinishReason } from '../generation/finish-reason.ts';
import { checkChoices, checkIgnored, type Prepared, prepareGeneration } from '../generation/generation.ts';
import { hasForeignField, ignoredHeader, unknownFields } from '../generation/parameters.ts';
import type { RequestFacts, Service } from '../service.ts';
import type { StreamItem } from '../generation/stream-item.ts';
import { wireLogprobs, wireTimings, wireUsage } from '../generation/usage.ts';
import { collectAnswer } from './whole-answer.ts';

export interface PreparedChat extends Prepared {
  readonly includeUsage: boolean;
  /** The request carried a field outside the interface. */
  readonly openAiDialect: boolean;
  readonly ignoredHeader: string | null;
  /** Everything that had no effect. */
  readonly allIgnored: readonly string[];
}

export interface ChatAnswer {
  readonly body: ChatResponse;
  readonly numCtx: number;
  /** How each choice ended. */
  readonly done: readonly Done[];
}

/** Resolves the model and builds the jobs; everything that can be refused without the engine is refused here. */
export async function prepareChat(
  service: Service,
  body: ChatRequest,
  request: RequestFacts,
): Promise<PreparedChat> {
  const model = await service.registry.resolve(body.model, 'chat');
  const prepared = prepareGeneration(service, model, body, chatShape(body), request);
  const ignored = [
    ...prepared.ignored,
    ...idleFields(body, model.facts.template.reasoning),
    ...unknownFields(body, ChatRequest.properties),
  ];
  checkIgnored(service, ignored);
  checkChoices(service, prepared);
  return {
    ...prepared,
    includeUsage: body.stream_options?.include_usage === true,
    openAiDialect: hasForeignField(body) || speaksOpenAi(body),
    ignoredHeader: ignoredHeader(ignored),
    allIgnored: ignored,
  };
}

export async function completeChat(
  service: Service,
  prepared: PreparedChat,
  request: RequestFacts,
): Promise<ChatAnswer> {
  const { generation } = prepared;
  const events = runChoices(service, generation, request.signal);
  const { numCtx, done, choices, usage } = await collectAnswer(generation.jobs, events);
  const head = await answerHead(
    service,
    prepared.model,
    'chat.completion',
    (created) => `chatcmpl-svc-${created}`,
  );
  return {
    numCtx,
    done,
    body: {
      ...head,
      choices,
      usage,
      timings: wireTimings((done[0] as Done).usage, (done[0] as Done).timings),
    },
  };
}

/** The chunks of a stream: role first, then text, then the empty delta with the finish reason. */
export async function* streamChat(
  service: Service,
  prepared: PreparedChat,
  request: RequestFacts,
): AsyncGenerator<StreamItem, void, void> {
  // The time alone would name all streams of a second alike.
  const entropy = randomBytes(6).toString('hex');
  const head = await answerHead(
    service,
    prepared.model,
    'chat.completion.chunk',
    (created) => `chatcmpl-svc-${created}${entropy}`,
  );
  const writer = new ChunkWriter(head, prepared);
  const guards = prepared.generation.jobs.map((job) => new ChoiceGuard(job));
  for await (const { index, event } of runChoices(service, prepared.generation, request.signal)) {
    for (const passed of guards[index]?.pass(event) ?? []) yield* writer.items(index, passed);
  }
}

type ChunkHead = Pick<ChatChunk, 'id' | 'object' | 'created' | 'model' | 'system_fingerprint'>;

class ChunkWriter {
  readonly #head: ChunkHead;
  readonly #prepared: PreparedChat;
  readonly #done: Done[] = [];

  constructor(head: ChunkHead, prepared: PreparedChat) {
    this.#head = head;
    this.#prepared = prepared;
  }

  *items(index: number, event: DeliveredEvent): Generator<StreamItem, void, void> {
    switch (event.type) {
      case 'queued':
        yield { comment: `queued ${event.position}: ${event.reason}` };
        return;
      case 'started':
        if (index === 0) yield { started: { numCtx: event.numCtx } };
        yield this.#delta(index, { role: 'assistant', content: '' });
        return;
      case 'text':
        yield this.#delta(index, { content: event.text }, event.tokens);
        return;
      case 'reasoning':
        yield this.#delta(index, { reasoning_content: event.text });
        return;
      case 'call':
        yield* this.#call(index, event);
        return;
      case 'done':
        yield this.#last(index, event);
        return;
      case 'embedding':
      case 'embedded':
      case 'explained':
        throw new Error(`a chat job produced the event ${event.type}`);
    }
  }

  /** Name and id first, then the arguments in pieces: what every client's parser expects. */
  *#call(index: number, { id, name, pieces }: DeliveredCall): Generator<StreamItem, void, void> {
    const opening = { index: 0, id, type: 'function' as const, function: { name, arguments: '' } };
    yield this.#delta(index, { tool_calls: [opening] });
    for (const piece of pieces)
      yield this.#delta(index, { tool_calls: [{ index: 0, function: { arguments: piece } }] });
  }

  #delta(index: number, delta: ChatDelta, tokens?: readonly SampledToken[]): StreamItem {
    const logprobs = tokens === undefined || tokens.length === 0 ? {} : { logprobs: wireLogprobs(tokens) };
    return { chunk: { ...this.#head, choices: [{ index, delta, finish_reason: null, ...logprobs }] } };
  }

  #last(index: number, event: Done): StreamItem {
    this.#done.push(event);
    const isLast = this.#done.length === this.#prepared.generation.jobs.length;
    const finish = {
      finish_reason: wireFinishReason(event.finishReason, true, this.#prepared.openAiDialect),
      svc_finish_reason: event.finishReason,
    };
    const usage =
      isLast && this.#prepared.includeUsage ? { usage: wireUsage(this.#done.map((done) => done.usage)) } : {};
    return { chunk: { ...this.#head, choices: [{ index, delta: {}, ...finish }], ...usage } };
  }
}
