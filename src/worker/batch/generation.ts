/**
 * One generate job while it runs: its prompt, its sampler, and what its answer has become so far.
 * It knows nothing of the batch; the batch loop feeds it tokens and takes its events.
 */
import {
  type FinishReason,
  type JobEvent,
  type SampledToken,
  type TextEvent,
  TOKENS_PER_EVENT,
  type Usage,
} from '../../contract/job-event.ts';
import type { GenerateJob } from '../../contract/job.ts';
import type { Answer, AnswerPart } from '../answer/answer.ts';
import { StopStrings } from '../answer/stop-strings.ts';
import { Utf8Assembler } from '../answer/utf8.ts';
import type { Vocabulary } from '../prompt/vocabulary.ts';

export interface GenerationStart {
  readonly job: GenerateJob;
  readonly prompt: Uint32Array;
  readonly answer: Answer;
  /** The window of this job, tokens. */
  readonly numCtx: number;
  readonly vocabulary: Vocabulary;
}

export class Generation {
  readonly job: GenerateJob;
  readonly prompt: Uint32Array;
  readonly answer: Answer;
  readonly numCtx: number;
  /** When the job came, on the clock of performance.now(). */
  readonly arrivedMs = performance.now();
  readonly #vocabulary: Vocabulary;
  readonly #maxTokens: number;
  readonly #utf8 = new Utf8Assembler();
  readonly #stops: StopStrings;
  readonly #sampled = new SampledTokens();
  readonly #tokens: number[] = [];
  #reasoningTokens = 0;
  #finish: FinishReason | null = null;
  /** Prompt tokens that were not evaluated again. */
  cachedTokens = 0;
  /** Set from outside; the loop lets go of the job at the next step. */
  cancelled = false;

  constructor(start: GenerationStart) {
    this.job = start.job;
    this.prompt = start.prompt;
    this.answer = start.answer;
    this.numCtx = start.numCtx;
    this.#vocabulary = start.vocabulary;
    this.#stops = new StopStrings(start.job.stop);
    const room = start.numCtx - start.prompt.length;
    this.#maxTokens = Math.min(start.job.maxTokens ?? room, room);
    if (this.#maxTokens === 0) this.#finish = 'length';
  }

  get jobId(): string {
    return this.job.jobId;
  }

  /** Null while it runs. */
  get finishReason(): FinishReason | null {
    return this.#finish;
  }

  /** The tokens of the answer so far. */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /** How many more the answer may have. */
  get tokensLeft(): number {
    return this.#maxTokens - this.#tokens.length;
  }

  get usage(): Usage {
    return {
      promptTokens: this.prompt.length,
      cachedTokens: this.cachedTokens,
      completionTokens: this.#tokens.length,
      reasoningTokens: this.#reasoningTokens,
    };
  }

  /** Takes the next token of the answer; returns what it says. Sets the finish reason when it is the last. */
  accept(token: number, sampled: SampledToken | null): JobEvent[] {
    const { parser, constraint } = this.answer;
    this.#tokens.push(token);
    constraint?.accept(token);
    if (this.#vocabulary.isEnd(token)) return this.#end('stop');
    if (parser.thinking) this.#reasoningTokens++;
    else if (sampled && parser.inText) this.#sampled.add(sampled);
    const events = this.#read(token);
    if (this.#finish !== null) return events;
    if (parser.complete) return [...events, ...this.#end('stop')];
    if (this.#tokens.length >= this.#maxTokens) return [...events, ...this.#end('length')];
    return events;
  }

  #read(token: number): JobEvent[] {
    const control = this.#vocabulary.controlTextOf(token);
    const parts =
      control === null
        ? this.answer.parser.text(this.#utf8.push(this.#vocabulary.bytesOf(token)))
        : this.answer.parser.control(control);
    return this.#say(parts);
  }

  #end(reason: FinishReason): JobEvent[] {
    const { parser } = this.answer;
    const events = this.#say([...parser.text(this.#utf8.end()), ...parser.end()]);
    if (this.#finish !== null) return events;
    const held = this.#stops.end();
    this.#finish = parser.calledTool ? 'tool_calls' : reason;
    return [...events, ...this.#sampled.released(held)];
  }

  /** Stop strings are looked for in the answer's text, not in thinking and not in the arguments of tools. */
  #say(parts: readonly AnswerPart[]): JobEvent[] {
    const events: JobEvent[] = [];
    for (const part of parts) {
      if (part.type !== 'text') {
        events.push(part);
        continue;
      }
      this.#sampled.wrote(part.text);
      const scan = this.#stops.push(part.text);
      events.push(...this.#sampled.released(scan.text));
      if (scan.stop !== null) {
        this.#finish = 'stop';
        break;
      }
    }
    return events;
  }
}

/** Keeps reported tokens beside the text they belong to: a token leaves with the text in which it begins. */
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

  /** The text as events, each with the tokens that begin in it. */
  released(text: string): TextEvent[] {
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
