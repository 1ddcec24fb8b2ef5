/**
 * server/api/requests owns the flight recorder: the last requests with their stages, in memory only. It knows nothing of
 * HTTP. Text is recorded only on the user's request and for a limited time.
 */
import type { Clock } from '../../../lib/base/clock.ts';
import { SharedMap } from '../../../lib/base/shared-map.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import {
  LATEST,
  type Recording,
  type RequestDetail,
  type RequestList,
  type RequestText,
  type RequestView,
} from '../../../wire/operation/requests.ts';

export type FinishedRequest = Omit<RequestView, 'number' | 'has_text'>;

export type RecordMode = 'off' | 'on' | 'text';

export interface RecorderOptions {
  readonly mode: RecordMode;
  /** Duration from the start; Infinity: until the service ends. */
  readonly textForMs: number;
  readonly clock: Clock;
}

export const RECORDER_LIMITS = {
  requests: 200,
  /** Characters of one body, and of all bodies together. */
  bodyChars: 256 * 1024,
  textChars: 16 * 1024 * 1024,
} as const;

type NumberedRequest = FinishedRequest & { readonly number: number };

export class RequestRecorder {
  readonly #mode: RecordMode;
  readonly #textUntilMs: number | null;
  readonly #requests = new SharedMap<number, NumberedRequest>({ entries: RECORDER_LIMITS.requests });
  readonly #texts = new SharedMap<number, RequestText>({
    entries: RECORDER_LIMITS.requests,
    size: RECORDER_LIMITS.textChars,
  });
  #lastNumber = 0;
  #isTextOver: boolean;
  #onChange: (() => void) | null = null;

  constructor({ mode, textForMs, clock }: RecorderOptions) {
    this.#mode = mode;
    this.#isTextOver = mode !== 'text';
    this.#textUntilMs = mode === 'text' ? clock.unixMs() + textForMs : null;
    if (mode === 'text') clock.after(textForMs, () => this.#forgetText());
  }

  get wantsText(): boolean {
    return !this.#isTextOver;
  }

  get lastNumber(): number {
    return this.#lastNumber;
  }

  get recording(): Recording {
    const kept = this.#mode === 'off' ? 0 : RECORDER_LIMITS.requests;
    // JSON has no infinity, so this is the largest date.
    const until = Math.min(this.#textUntilMs ?? 0, 8.64e15);
    return { kept, ...(this.wantsText ? { text_until_ms: Math.round(until) } : {}) };
  }

  watch(onChange: (() => void) | null): void {
    this.#onChange = onChange;
  }

  /** `owner` is empty for a request that was refused. No owner can evict the requests of another. */
  add(request: FinishedRequest, text: RequestText | null, owner: string): void {
    if (this.#mode === 'off') return;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    this.#requests.set(number, { ...request, number }, { owner });
    if (text !== null && this.wantsText) this.#texts.set(number, text, { owner, size: countChars(text) });
    for (let gone = this.#requests.excess(); gone !== undefined; gone = this.#requests.excess()) {
      this.#requests.delete(gone);
      this.#texts.delete(gone);
    }
    this.#texts.trim();
    this.#onChange?.();
  }

  list(after = 0): RequestList {
    const data = this.#all.filter(({ number }) => number > after).map((each) => this.#view(each));
    return { object: 'list', data, recording: this.recording };
  }

  /** `id`: a number or a request id. If a client has sent one id several times, the newest one is returned. */
  find(id: string): RequestDetail {
    const found = this.#named(id) ?? (id === LATEST ? this.#all.at(-1) : undefined);
    if (found === undefined) throw fail('request_not_found', { id, param: 'id' });
    return this.#detail(found);
  }

  /** The request id of a number; returns anything else unchanged. */
  requestId(asked: string): string {
    return this.#named(asked)?.request_id ?? asked;
  }

  #named(id: string): NumberedRequest | undefined {
    return this.#all.findLast((each) => each.request_id === id || String(each.number) === id);
  }

  details(): RequestDetail[] {
    return this.#all.map((each) => this.#detail(each));
  }

  get #all(): NumberedRequest[] {
    return [...this.#requests.entries()].map(([, request]) => request);
  }

  #view(request: NumberedRequest): RequestView {
    return { ...request, has_text: this.#texts.get(request.number) !== undefined };
  }

  #detail(request: NumberedRequest): RequestDetail {
    const text = this.#texts.get(request.number);
    return { ...this.#view(request), ...(text === undefined ? {} : { text }) };
  }

  #forgetText(): void {
    this.#isTextOver = true;
    this.#texts.clear();
    this.#onChange?.();
  }
}

const countChars = ({ request, response }: RequestText): number => request.body.length + response.body.length;
