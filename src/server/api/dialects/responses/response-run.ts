import { EventQueue } from '../../../../lib/base/event-queue.ts';
import { fail, isSvcError } from '../../../../lib/errors/svc-error.ts';
import type { DoneEvent } from '../../../../contract/job-event.ts';
import type { ResponsesEvent } from '../../../../wire/responses/events.ts';
import type { InputItem } from '../../../../wire/responses/items.ts';
import type { ResponsesRequest } from '../../../../wire/responses/request.ts';
import type { ResponseBody } from '../../../../wire/responses/response.ts';
import type { AnswerEvent } from '../../chat/choice-guard.ts';
import type { Engine } from '../../../engine/ports.ts';
import { AcceptedRequest, type RequestPlan } from '../../chat/accepted-request.ts';
import type { Collected } from '../../chat/collected.ts';
import type { RequestNotes } from '../../chat/request-notes.ts';
import type { StreamItem } from '../../generation/stream-item.ts';
import type { KeptResponses } from './kept.ts';
import type { ResponseDraft } from './response-draft.ts';
import { Output, type OutputEvent, type OutputOptions } from './output.ts';
import { closedBody, failedBody, openBody, type ResponseHead } from './response-body.ts';

export interface ResponseParts {
  readonly body: ResponsesRequest;
  readonly items: readonly InputItem[];
  readonly kept: KeptResponses;
  readonly owner: string;
  readonly head: ResponseHead;
  readonly output: OutputOptions;
  readonly unixSeconds: () => number;
  readonly gone: AbortSignal;
  readonly stop: () => void;
  readonly hold: () => () => void;
}

type StreamEvent = OutputEvent | { readonly type: `response.${string}`; readonly response: ResponseBody };

export class ResponseRun {
  readonly #request: AcceptedRequest<ResponseBody>;
  readonly #parts: ResponseParts;
  readonly #open: ResponseBody;
  readonly #output: Output;
  #sentCount = 0;
  #final: ResponseBody | null = null;
  #draft: ResponseDraft | null = null;
  #isKept = false;

  constructor(engine: Pick<Engine, 'submit'>, plan: RequestPlan, parts: ResponseParts) {
    this.#request = new AcceptedRequest(engine, plan, {
      onStarted: () => this.#beginDraft(),
      whole: (collected) => this.#wholeBody(collected),
      writer: () => (_index, event) => this.#toEvents(event),
    });
    this.#parts = parts;
    this.#open = openBody(parts.head, parts.body);
    this.#output = new Output(parts.output);
  }

  get understood(): RequestNotes {
    const { body, kept } = this.#parts;
    const { understood } = this.#request;
    if (body.store !== true || kept.isOn) return understood;
    return { ...understood, ignored: [...understood.ignored, 'store'] };
  }

  async whole(): Promise<{ readonly body: ResponseBody; readonly numCtx: number }> {
    if (this.#parts.body.background === true) return this.#inBackground();
    try {
      return await this.#waitedFor();
    } finally {
      await this.#draft?.drop();
    }
  }

  async #inBackground(): Promise<{ readonly body: ResponseBody; readonly numCtx: number }> {
    const body = await this.#beginBackground();
    this.#detach(this.#waitedFor());
    return { body, numCtx: 0 };
  }

  async *#followed(): AsyncGenerator<StreamItem, void, void> {
    const { gone } = this.#parts;
    await this.#beginBackground();
    const read = new EventQueue<StreamItem>();
    const leave = () => read.fail(fail('cancelled'));
    gone.addEventListener('abort', leave);
    this.#detach(this.#pumpInto(read));
    try {
      yield* read;
    } finally {
      gone.removeEventListener('abort', leave);
    }
  }

  async #pumpInto(read: EventQueue<StreamItem>): Promise<void> {
    try {
      for await (const item of this.#items()) {
        if (this.#final !== null) await this.#keep(this.#final);
        read.push(item);
      }
      read.end();
    } catch (error) {
      read.fail(error);
      throw error;
    }
  }

  async #beginBackground(): Promise<ResponseBody> {
    const { kept, owner, items, stop } = this.#parts;
    const body: ResponseBody = { ...this.#open, status: 'queued' };
    await kept.begin(owner, { input: items, response: body }, { stop, body: () => this.#open });
    return body;
  }

  #detach(answer: Promise<unknown>): void {
    const { kept, owner, head, hold } = this.#parts;
    const release = hold();
    void answer
      .catch((error: unknown) => this.#keep(failedBody(this.#open, this.#output.items, wireFailure(error))))
      .finally(() => {
        kept.ended(owner, head.id);
        release();
      })
      .then(() => this.#draft?.drop())
      // If it cannot be stored, only later requests for it fail.
      .catch(() => undefined);
  }

  async #waitedFor(): Promise<{ readonly body: ResponseBody; readonly numCtx: number }> {
    const answer = await this.#request.whole();
    await this.#keep(answer.body);
    return answer;
  }

  #wholeBody({ answers: [{ parts, done }] }: Collected): ResponseBody {
    if (done.compaction?.turns !== undefined) this.#output.compacted(done.compaction.turns);
    for (const part of parts) this.#output.take(part);
    this.#output.take(done);
    return this.#closed(done);
  }

  async *stream(): AsyncGenerator<StreamItem, void, void> {
    const { body, kept, owner, head, stop } = this.#parts;
    if (body.background === true) return yield* this.#followed();
    kept.runs(owner, head.id, { stop });
    try {
      for await (const item of this.#items()) {
        // Stored before the last event, because the client may fetch it immediately.
        if (this.#final !== null) await this.#keep(this.#final);
        yield item;
      }
    } finally {
      kept.ended(owner, head.id);
      await this.#draft?.drop();
    }
  }

  async *#items(): AsyncGenerator<StreamItem, void, void> {
    let hasBegun = false;
    try {
      for await (const item of this.#request.stream()) {
        hasBegun ||= 'chunk' in item;
        yield item;
      }
    } catch (error) {
      if (!hasBegun) throw error;
      const response = failedBody(this.#open, this.#output.items, wireFailure(error));
      if (response.background) this.#final = response;
      yield { chunk: this.#numbered({ type: 'response.failed', response }) };
      throw error;
    }
  }

  #toEvents(event: AnswerEvent): ResponsesEvent[] {
    const events: StreamEvent[] = [];
    if (event.type === 'started') {
      this.#beginDraft();
      events.push({ type: 'response.created', response: this.#open });
      events.push({ type: 'response.in_progress', response: this.#open });
    }
    events.push(...this.#output.take(event));
    if (event.type === 'done') {
      const response = this.#closed(event);
      this.#final = response;
      events.push({ type: `response.${response.status}`, response });
    }
    return events.map((each) => this.#numbered(each));
  }

  #numbered(event: StreamEvent): ResponsesEvent {
    const sequence_number = this.#sentCount;
    this.#sentCount += 1;
    return { ...event, sequence_number } as ResponsesEvent;
  }

  #closed(done: DoneEvent): ResponseBody {
    const unixSeconds = this.#parts.unixSeconds();
    return closedBody(this.#open, this.#output.items, { done, unixSeconds });
  }

  /** Writes most of the record while the answer is generated; a refused request never touches the disk. */
  #beginDraft(): void {
    const { kept, owner, items, head } = this.#parts;
    if (head.store) this.#draft ??= kept.draft(owner, head.id, items);
  }

  /** The body reports whether it was stored, so this runs before it is sent. */
  async #keep(body: ResponseBody): Promise<void> {
    this.#final = null;
    if (this.#isKept) return;
    this.#isKept = true;
    const { kept, owner, head } = this.#parts;
    // The client deleted it while it was running.
    if (body.background && !kept.isRunning(owner, head.id)) return;
    // A background response that was refused before it began can also be fetched.
    this.#beginDraft();
    if (head.store && (await this.#draft?.keep(body)) !== true) body.store = false;
  }
}

function wireFailure(error: unknown): { readonly code: string; readonly message: string } {
  if (isSvcError(error)) return { code: error.code, message: error.message };
  return { code: 'internal', message: 'The service failed.' };
}
