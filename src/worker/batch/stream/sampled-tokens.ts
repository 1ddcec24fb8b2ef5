import { type SampledToken, type TextEvent, TOKENS_PER_EVENT } from '../../../contract/job-event.ts';

/** Aligns reported tokens with the text they belong to: a token is sent with the text in which it begins. */
export class SampledTokens {
  #waiting: { start: number; token: SampledToken }[] = [];
  #written = 0;
  #released = 0;

  add(token: SampledToken): void {
    this.#waiting.push({ start: this.#written, token });
  }

  wrote(text: string): void {
    this.#written += text.length;
  }

  /** The last tokens of an answer that ends inside a character: they were sampled, and begin no text. */
  releaseHalf(count: number): TextEvent[] {
    if (count === 0 || this.#waiting.length < count) return [];
    const tokens = this.#waiting.splice(-count).map(({ token }) => token);
    return [{ type: 'text', text: '', tokens }];
  }

  /** The text as events, each with the tokens that begin in it. */
  release(text: string): TextEvent[] {
    if (text === '') return [];
    const from = this.#released;
    this.#released += text.length;
    const ready = this.#waiting.filter(({ start }) => start < this.#released);
    if (ready.length === 0) return [{ type: 'text', text }];
    this.#waiting = this.#waiting.slice(ready.length);
    const events: TextEvent[] = [];
    let begin = 0;
    for (let at = 0; at < ready.length; at += TOKENS_PER_EVENT) {
      const next = ready[at + TOKENS_PER_EVENT];
      const end = next === undefined ? text.length : next.start - from;
      const tokens = ready.slice(at, at + TOKENS_PER_EVENT).map(({ token }) => token);
      events.push({ type: 'text', text: text.slice(begin, end), tokens });
      begin = end;
    }
    return events;
  }
}
