import type { ToolDefinition } from '../../../contract/job.ts';
import {
  type ContentMarks,
  formatLiterals,
  type ModelFormat,
} from '../../../../packages/chat-templates/src/tool-format/tool-format.ts';
import type { AnswerPart, BodyReader } from './body.ts';
import { readCalls, type CallSink } from './call-reader.ts';
import { readChannels } from './channel-reader.ts';
import { CharSource, END, type Reading } from './char-source.ts';
import { callOpenings } from './openings.ts';

interface FormatBodyOptions {
  readonly format: ModelFormat;
  readonly tools: readonly ToolDefinition[];
  readonly maxCalls: number;
  /** A grammar chose every character, those of control tokens too. */
  readonly shaped: boolean;
}

export class FormatBody implements BodyReader, CallSink {
  readonly tools: readonly ToolDefinition[];
  readonly #options: FormatBodyOptions;
  readonly #source = new CharSource();
  readonly #reading: Reading;
  readonly #literals: readonly string[];
  #parts: AnswerPart[] = [];
  #open: AnswerPart[] = [];
  #fresh: AnswerPart[] = [];
  #calls = 0;
  #inCall = false;

  constructor(options: FormatBodyOptions) {
    const { format, tools } = options;
    this.#options = options;
    this.tools = tools;
    this.#literals = structureTexts(format);
    this.#reading = format.channels === null ? this.#read() : readChannels(this.#source, format, this);
    this.#reading.next();
  }

  get complete(): boolean {
    return this.#calls > 0 && !this.mayCall();
  }

  get calledTool(): boolean {
    return this.#calls > 0;
  }

  get inText(): boolean {
    return !this.#inCall;
  }

  takesControl(text: string): boolean {
    return this.#inCall || this.#options.shaped || this.#literals.some((literal) => literal.includes(text));
  }

  push(piece: string): AnswerPart[] {
    this.#source.push(piece);
    this.#reading.next();
    return this.#taken();
  }

  end(isCut: boolean): AnswerPart[] {
    this.#source.end(isCut);
    this.#reading.next();
    return this.#taken();
  }

  mayCall(): boolean {
    return this.#calls < this.#options.maxCalls;
  }

  add(part: AnswerPart): void {
    if (part.type === 'tool_call') {
      this.#inCall = true;
      this.#open = [];
      this.#fresh = [part];
    } else if (part.type === 'tool_arguments') {
      append(this.#fresh, part);
    } else if (!this.complete || part.type !== 'text') {
      append(this.#parts, part);
    }
  }

  finished(): void {
    this.#keepFresh();
    for (const part of this.#open) this.#parts.push(part);
    this.#open = [];
    this.#inCall = false;
    this.#calls += 1;
  }

  #taken(): AnswerPart[] {
    this.#keepFresh();
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  #keepFresh(): void {
    for (const part of this.#fresh) this.#open.push(part);
    this.#fresh = [];
  }

  *#read(): Reading {
    const { format, tools } = this.#options;
    const callable = tools.length > 0 ? format.tools : null;
    const openings = callable === null ? [] : callOpenings(callable);
    const words = new WordsReader(this.#source, format.content, format.restart, this);
    for (;;) {
      const found = yield* words.readTo(
        openings.map(({ mark }) => mark),
        callable?.atStart === true,
      );
      const opening = openings[found ?? -1];
      if (opening === undefined || callable === null) return;
      this.#inCall = true;
      const notCalls = yield* readCalls(this.#source, callable, opening, this);
      this.#source.record(null);
      this.#inCall = false;
      if (notCalls !== '') this.add({ type: 'text', text: notCalls });
      if (this.complete) return;
    }
  }
}

function append(parts: AnswerPart[], part: AnswerPart): void {
  const last = parts.at(-1);
  if (last === undefined || last.type !== part.type || last.type === 'tool_call' || part.type === 'tool_call')
    parts.push(part);
  else parts[parts.length - 1] = { type: last.type, text: last.text + part.text };
}

/** Texts that a control token may be part of; other control tokens are silent among words. */
function structureTexts({ tools, channels, content, restart }: ModelFormat): string[] {
  const headers =
    channels === null
      ? []
      : [channels.start, channels.message, ...channels.ends, channels.words, ...channels.calls.flat()];
  const words = [content?.open, content?.close, restart, ...headers];
  const texts = words.filter((word): word is string => typeof word === 'string' && word !== '');
  return [...texts, ...(tools === null ? [] : [tools.announcement ?? '', ...formatLiterals(tools)])];
}

class WordsReader {
  readonly #source: CharSource;
  readonly #silent: readonly string[];
  readonly #sink: CallSink;
  #wrote = false;

  constructor(source: CharSource, content: ContentMarks | null, restart: string, sink: CallSink) {
    this.#source = source;
    this.#sink = sink;
    this.#silent = [content?.open ?? '', content?.close ?? '', restart].filter((mark) => mark !== '');
  }

  *readTo(marks: readonly string[], atStart: boolean): Reading<number | null> {
    let held = '';
    let space = '';
    for (;;) {
      const char = yield* this.#source.take();
      if (char === END) {
        // White space after a call, or after the mark that closes text, is dropped. All held text begins a mark.
        if (held === '' && !this.#sink.calledTool) this.#write(space);
        else if (held !== '' && !this.#source.isCut) this.#write(space + held);
        return null;
      }
      held += char;
      const wanted = atStart && this.#wrote ? [] : marks;
      while (held !== '') {
        const mark = wanted.indexOf(held);
        if (mark >= 0) return mark;
        if (this.#silent.includes(held)) {
          held = '';
          space = '';
          break;
        }
        if ([...wanted, ...this.#silent].some((text) => text.startsWith(held))) break;
        const [first = ''] = held;
        held = held.slice(first.length);
        if (/\s/.test(first)) {
          space += first;
        } else {
          this.#write(space + first);
          space = '';
        }
      }
    }
  }

  #write(text: string): void {
    if (text === '') return;
    this.#wrote = true;
    this.#sink.add({ type: 'text', text });
  }
}
