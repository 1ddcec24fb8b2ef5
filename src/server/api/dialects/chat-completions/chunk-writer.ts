/**
 * The chunks of a chat stream: the role first, then text, then an empty delta with the finish reason. If the request
 * wants usage, it follows in a chunk without choices, as OpenAI sends it.
 */
import type { DoneEvent, SampledToken } from '../../../../contract/job-event.ts';
import type { ChatChunk, ChatDelta } from '../../../../wire/inference/chat.ts';
import type { AnswerEvent, CallEvent } from '../../chat/choice-guard.ts';
import {
  trueFinishReason,
  wireFinishReason,
  wireLogprobs,
  wireProgress,
  wireIncidents,
  wireTimings,
  wireUsage,
} from '../../generation/usage.ts';

type ChunkHead = Pick<ChatChunk, 'id' | 'object' | 'created' | 'model' | 'system_fingerprint'>;

export interface ChunkOptions {
  readonly includeUsage: boolean;
  readonly readsOpenAi: boolean;
}

export class ChunkWriter {
  readonly #head: ChunkHead;
  readonly #choices: number;
  readonly #options: ChunkOptions;
  readonly #done: DoneEvent[] = [];

  constructor(head: ChunkHead, choices: number, options: ChunkOptions) {
    this.#head = head;
    this.#choices = choices;
    this.#options = options;
  }

  write(index: number, event: AnswerEvent): ChatChunk[] {
    switch (event.type) {
      case 'queued':
      case 'prompt_tokens':
        return [];
      case 'started':
        return [this.#delta(index, { role: 'assistant', content: '' })];
      case 'progress':
        return [{ ...this.#delta(index, {}), prompt_progress: wireProgress(event) }];
      case 'text':
        return [this.#delta(index, { content: event.text }, event.tokens)];
      case 'reasoning':
        return [this.#delta(index, { reasoning_content: event.text })];
      case 'call':
        return this.#call(index, event);
      case 'done':
        return this.#last(index, event);
    }
  }

  /** Name and id first, then the arguments in pieces: the order that clients' parsers expect. */
  #call(index: number, { index: at, id, name, pieces }: CallEvent): ChatChunk[] {
    const opening = { index: at, id, type: 'function' as const, function: { name, arguments: '' } };
    return [
      this.#delta(index, { tool_calls: [opening] }),
      ...pieces.map((piece) =>
        this.#delta(index, { tool_calls: [{ index: at, function: { arguments: piece } }] }),
      ),
    ];
  }

  #delta(index: number, delta: ChatDelta, tokens?: readonly SampledToken[]): ChatChunk {
    const logprobs = tokens === undefined || tokens.length === 0 ? {} : { logprobs: wireLogprobs(tokens) };
    return { ...this.#head, choices: [{ index, delta, finish_reason: null, ...logprobs }] };
  }

  #last(index: number, event: DoneEvent): ChatChunk[] {
    this.#done.push(event);
    const { includeUsage, readsOpenAi } = this.#options;
    const isLast = this.#done.length === this.#choices;
    const finish = {
      finish_reason: wireFinishReason(event.finishReason, true, readsOpenAi),
      svc_finish_reason: trueFinishReason(event),
    };
    const timings = wireTimings(event);
    const incidents = wireIncidents(event);
    const last = { ...this.#head, choices: [{ index, delta: {}, ...finish }], timings, ...incidents };
    if (!isLast || !includeUsage) return [last];
    const usage = wireUsage(this.#done.map((done) => done.usage));
    return [last, { ...this.#head, choices: [], usage, timings }];
  }
}
