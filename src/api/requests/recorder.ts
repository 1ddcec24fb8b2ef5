/**
 * api/requests owns the flight recorder: the last requests with their stages, in memory only. It knows nothing of HTTP; text
 * is kept only while the user asks for it, for a limited time, and then forgotten.
 */
import type { Clock } from '../../lib/base/clock.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type {
  Recording,
  RequestDetail,
  RequestList,
  RequestText,
  RequestView,
} from '../../wire/operation/requests.ts';

/** A request as the edge tells of it once it is over. */
export type FinishedRequest = Omit<RequestView, 'number' | 'has_text'>;

export type RecordMode = 'off' | 'on' | 'text';

export interface RecorderOptions {
  readonly mode: RecordMode;
  /** How long text is kept, from the start on; Infinity: until the service ends. */
  readonly textForMs: number;
  readonly clock: Clock;
}

export const RECORDER_LIMITS = {
  requests: 200,
  /** Characters of one body, and of all bodies together. */
  bodyChars: 256 * 1024,
  textChars: 16 * 1024 * 1024,
} as const;

interface Entry {
  readonly view: FinishedRequest & { readonly number: number };
  text: RequestText | null;
}

export class RequestRecorder {
  readonly #mode: RecordMode;
  readonly #textUntilMs: number | null;
  #entries: Entry[] = [];
  #lastNumber = 0;
  #textChars = 0;
  #isTextOver: boolean;
  #onChange: (() => void) | null = null;

  constructor({ mode, textForMs, clock }: RecorderOptions) {
    this.#mode = mode;
    this.#isTextOver = mode !== 'text';
    this.#textUntilMs = mode === 'text' ? clock.unixMs() + textForMs : null;
    if (mode === 'text') clock.after(textForMs, () => this.#forgetText());
  }

  /** Whether text is wanted now. */
  get wantsText(): boolean {
    return !this.#isTextOver;
  }

  get lastNumber(): number {
    return this.#lastNumber;
  }

  get recording(): Recording {
    const kept = this.#mode === 'off' ? 0 : RECORDER_LIMITS.requests;
    // JSON knows no infinity: the largest date that it does know stands for it.
    const until = Math.min(this.#textUntilMs ?? 0, 8.64e15);
    return { kept, ...(this.wantsText ? { text_until_ms: Math.round(until) } : {}) };
  }

  /** Calls back after each request; null: no more. */
  watch(onChange: (() => void) | null): void {
    this.#onChange = onChange;
  }

  add(request: FinishedRequest, text: RequestText | null): void {
    if (this.#mode === 'off') return;
    this.#lastNumber += 1;
    const kept = this.wantsText ? text : null;
    this.#entries.push({ view: { ...request, number: this.#lastNumber }, text: kept });
    this.#textChars += charsOf(kept);
    const gone = this.#entries.length > RECORDER_LIMITS.requests ? this.#entries.shift() : undefined;
    this.#textChars -= charsOf(gone?.text ?? null);
    this.#boundText();
    this.#onChange?.();
  }

  /** The newest last. */
  list(after = 0): RequestList {
    const data = this.#entries.filter(({ view }) => view.number > after).map(viewOf);
    return { object: 'list', data, recording: this.recording };
  }

  /** By number, or by request id: a client may send one id with several requests, and then the newest is meant. */
  find(id: string): RequestDetail {
    const entry = this.#entries.findLast(({ view }) => view.request_id === id || String(view.number) === id);
    if (entry === undefined) throw fail('request_not_found', { id, param: 'id' });
    return { ...viewOf(entry), ...(entry.text === null ? {} : { text: entry.text }) };
  }

  /** Every request with its text, where there is one. */
  details(): RequestDetail[] {
    return this.#entries.map((entry) => ({
      ...viewOf(entry),
      ...(entry.text === null ? {} : { text: entry.text }),
    }));
  }

  #boundText(): void {
    for (const entry of this.#entries) {
      if (this.#textChars <= RECORDER_LIMITS.textChars) return;
      this.#textChars -= charsOf(entry.text);
      entry.text = null;
    }
  }

  #forgetText(): void {
    this.#isTextOver = true;
    this.#textChars = 0;
    for (const entry of this.#entries) entry.text = null;
    this.#onChange?.();
  }
}

const viewOf = ({ view, text }: Entry): RequestView => ({ ...view, has_text: text !== null });

const charsOf = (text: RequestText | null): number =>
  text === null ? 0 : text.request.body.length + text.response.body.length;
