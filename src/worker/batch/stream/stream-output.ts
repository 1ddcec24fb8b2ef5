/**
 * The answer of one stream: takes tokens, returns events. Detokenises, parses the answer's format, finds stop
 * strings, counts usage and ends the answer. It knows nothing of batches, samplers and sequences.
 */
import {
  type FinishReason,
  type JobEvent,
  type Repetition,
  type SampledToken,
  type Usage,
  type TextEvent,
  TOKENS_PER_EVENT,
} from '../../../contract/job-event.ts';
import type { AnswerParser, AnswerPart } from '../../answer/answer.ts';
import { StopStrings } from '../../answer/stop-strings.ts';
import type { Vocabulary } from '../../prompt/vocabulary.ts';
import { RepetitionGuard, repetitionLimit } from '../../../lib/base/repetition-guard.ts';
import type { StreamJob } from './stream-job.ts';

export class StreamOutput {
  readonly #job: StreamJob;
  readonly #vocabulary: Vocabulary;
  readonly #maxTokens: number;
  readonly #room: number;
  readonly #utf8 = new Utf8Assembler();
  readonly #stops: StopStrings;
  readonly #sampled = new SampledTokens();
  readonly #tokens: number[] = [];
  readonly #guard: RepetitionGuard | null;
  #reasoningTokens = 0;
  #finishReason: FinishReason | null = null;
  #stopString: string | null = null;

  constructor(job: StreamJob, vocabulary: Vocabulary) {
    const { prompt, numCtx } = job;
    this.#job = job;
    this.#vocabulary = vocabulary;
    this.#stops = new StopStrings([...job.job.stop, ...(job.answer.hiddenStops ?? [])]);
    const limit = repetitionLimit(job.job);
    this.#guard =
      limit === 0 ? null : new RepetitionGuard(limit, this.#tokens, (tokens) => this.#joinTokens(tokens));
    this.#room = numCtx - prompt.length;
    this.#maxTokens = Math.min(job.job.maxTokens ?? this.#room, this.#room);
    if (this.#maxTokens === 0) this.#finishReason = 'length';
  }

  get finishReason(): FinishReason | null {
    return this.#finishReason;
  }

  get stopString(): string | null {
    return this.#stopString;
  }

  get tokens(): readonly number[] {
    return this.#tokens;
  }

  get tokensLeft(): number {
    return this.#most - this.#tokens.length;
  }

  /** A token that would continue a repetition and may not come next, or null. */
  get avoided(): number | null {
    const isShaped = (this.#job.answer.constraint?.grammar() ?? null) !== null;
    return isShaped ? null : (this.#guard?.avoided ?? null);
  }

  nudged(): void {
    this.#guard?.nudged();
  }

  get repetition(): Repetition | null {
    if (this.#guard?.isOver === true) return 'ended';
    return this.#guard !== null && this.#guard.nudges > 0 ? 'nudged' : null;
  }

  usage(cachedTokens: number): Usage {
    return {
      promptTokens: this.#job.prompt.length,
      cachedTokens,
      completionTokens: this.#tokens.length,
      reasoningTokens: this.#reasoningTokens,
    };
  }

  push(token: number, sampled: SampledToken | null): JobEvent[] {
    const events = this.#take(token, sampled);
    // Programs that score a prompt (lm-eval) count on one entry for each token of prompt and answer, with text or without.
    const needsAll = this.#finishReason !== null && this.#job.job.scoredPrompt !== undefined;
    return needsAll ? [...events, ...this.#sampled.releaseAll()] : events;
  }

  #take(token: number, sampled: SampledToken | null): JobEvent[] {
    const { parser, constraint } = this.#job.answer;
    this.#tokens.push(token);
    constraint?.accept(token);
    this.#guard?.note();
    if (this.#vocabulary.isEnd(token)) {
      const events = this.#end('stop');
      if (sampled) this.#sampled.add(sampled);
      return events;
    }
    if (parser.thinking) this.#reasoningTokens += 1;
    else if (sampled && parser.inText) this.#sampled.add(sampled);
    const events = this.#toEvents(this.#readParts(token));
    if (this.#finishReason !== null) return events;
    if (parser.complete) return [...events, ...this.#end('stop')];
    if (this.#tokens.length >= this.#most || this.#guard?.isOver === true)
      return [...events, ...this.#end('length')];
    return events;
  }

  #joinTokens(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.#vocabulary.tokenBytes(token))).toString('utf8');
  }

  /** A call may exceed the token limit: half a call is useless. */
  get #most(): number {
    const isInCall = this.#job.endsCalls === true && !this.#parser.inText && !this.#parser.thinking;
    return isInCall ? this.#room : this.#maxTokens;
  }

  get #parser(): AnswerParser {
    return this.#job.answer.parser;
  }

  #readParts(token: number): AnswerPart[] {
    const control = this.#vocabulary.controlText(token);
    if (control !== null) {
      this.#utf8.drop();
      return this.#parser.control(control);
    }
    return this.#parser.text(this.#utf8.push(this.#vocabulary.tokenBytes(token)));
  }

  #end(reason: FinishReason): JobEvent[] {
    const isCut = reason === 'length';
    const events = this.#toEvents(this.#parser.end(isCut));
    if (this.#finishReason !== null) return events;
    // The beginning of a template's mark is not text of a cut answer either.
    const held = this.#stops.end(isCut ? this.#job.answer.hiddenStops : []);
    this.#finishReason = this.#parser.calledTool && !isCut ? 'tool_calls' : reason;
    return [...events, ...this.#sampled.release(held), ...this.#sampled.releaseHalf(this.#utf8.halfTokens)];
  }

  /** Stop strings apply to the answer's text, not to thinking and not to the arguments of tools. */
  #toEvents(parts: readonly AnswerPart[]): JobEvent[] {
    const events: JobEvent[] = [];
    for (const part of parts) {
      if (part.type !== 'text') {
        events.push(part);
        continue;
      }
      this.#sampled.wrote(part.text);
      const scan = this.#stops.push(part.text);
      events.push(...this.#sampled.release(scan.text));
      if (scan.stop !== null) {
        this.#finishReason = 'stop';
        if (this.#job.job.stop.includes(scan.stop)) this.#stopString = scan.stop;
        break;
      }
    }
    return events;
  }
}

const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Joins the bytes of tokens into text without splitting a character: the bytes of an unfinished character wait for
 * the next token, and are dropped if none comes. Invalid bytes become U+FFFD.
 */
export class Utf8Assembler {
  #decoder = newDecoder();
  #halfTokens = 0;

  push(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#halfTokens = text === '' && bytes.length > 0 ? this.#halfTokens + 1 : 0;
    return text;
  }

  get halfTokens(): number {
    return this.#halfTokens;
  }

  drop(): void {
    this.#decoder = newDecoder();
    this.#halfTokens = 0;
  }
}

/** Sends each reported token with the text in which it begins. */
class SampledTokens {
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

  /** What begins no text: the end token, control tokens, stop strings. */
  releaseAll(): TextEvent[] {
    const waiting = this.#waiting.map(({ token }) => token);
    this.#waiting = [];
    return Array.from({ length: Math.ceil(waiting.length / TOKENS_PER_EVENT) }, (_, at) => ({
      type: 'text',
      text: '',
      tokens: waiting.slice(at * TOKENS_PER_EVENT, (at + 1) * TOKENS_PER_EVENT),
    }));
  }

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
