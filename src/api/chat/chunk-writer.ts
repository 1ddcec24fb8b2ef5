/** The chunks of a chat stream: the role first, then text, then the empty delta with the finish reason. */
import type { GenerateJob } from '../../contract/job.ts';
import type { DoneEvent, JobEvent, SampledToken } from '../../contract/job-event.ts';
import type { ChatChunk, ChatDelta } from '../../wire/inference/chat.ts';
import { wireFinishReason } from '../generation/finish-reason.ts';
import { wireLogprobs, wireUsage } from '../generation/usage.ts';
import { ChoiceGuard, type DeliveredCall, type DeliveredEvent } from './choice-guard.ts';

type ChunkHead = Pick<ChatChunk, 'id' | 'object' | 'created' | 'model' | 'system_fingerprint'>;

export interface StreamManners {
  readonly includeUsage: boolean;
  /** The sender reads OpenAI's finish reasons. */
  readonly openAiDialect: boolean;
}

export class ChunkWriter {
  readonly #head: ChunkHead;
  readonly #guards: readonly ChoiceGuard[];
  readonly #manners: StreamManners;
  readonly #done: DoneEvent[] = [];

  constructor(head: ChunkHead, jobs: readonly GenerateJob[], manners: StreamManners) {
    this.#head = head;
    this.#guards = jobs.map((job) => new ChoiceGuard(job));
    this.#manners = manners;
  }

  /** What an event adds to the stream; throws when the answer is over and is not what was asked for. */
  chunksOf(index: number, event: JobEvent): ChatChunk[] {
    return (this.#guards[index]?.pass(event) ?? []).flatMap((passed) => this.#written(index, passed));
  }

  #written(index: number, event: DeliveredEvent): ChatChunk[] {
    switch (event.type) {
      case 'queued':
        return [];
      case 'started':
        return [this.#delta(index, { role: 'assistant', content: '' })];
      case 'text':
        return [this.#delta(index, { content: event.text }, event.tokens)];
      case 'reasoning':
        return [this.#delta(index, { reasoning_content: event.text })];
      case 'call':
        return this.#call(index, event);
      case 'done':
        return [this.#last(index, event)];
      case 'embedding':
      case 'embedded':
      case 'score':
      case 'ranked':
      case 'explained':
        throw new Error(`a chat job produced the event ${event.type}`);
    }
  }

  /** Name and id first, then the arguments in pieces: what every client's parser expects. */
  #call(index: number, { id, name, pieces }: DeliveredCall): ChatChunk[] {
    const opening = { index: 0, id, type: 'function' as const, function: { name, arguments: '' } };
    return [
      this.#delta(index, { tool_calls: [opening] }),
      ...pieces.map((piece) =>
        this.#delta(index, { tool_calls: [{ index: 0, function: { arguments: piece } }] }),
      ),
    ];
  }

  #delta(index: number, delta: ChatDelta, tokens?: readonly SampledToken[]): ChatChunk {
    const logprobs = tokens === undefined || tokens.length === 0 ? {} : { logprobs: wireLogprobs(tokens) };
    return { ...this.#head, choices: [{ index, delta, finish_reason: null, ...logprobs }] };
  }

  #last(index: number, event: DoneEvent): ChatChunk {
    this.#done.push(event);
    const { includeUsage, openAiDialect } = this.#manners;
    const isLast = this.#done.length === this.#guards.length;
    const finish = {
      finish_reason: wireFinishReason(event.finishReason, true, openAiDialect),
      svc_finish_reason: event.finishReason,
    };
    const usage = isLast && includeUsage ? { usage: wireUsage(this.#done.map((done) => done.usage)) } : {};
    return { ...this.#head, choices: [{ index, delta: {}, ...finish }], ...usage };
  }
}
