import type { AnswerPart, BodyReader } from './calls/body.ts';
import { CallReader } from './call-reader.ts';
import { CALL_BETWEEN, CALL_CLOSE, CALL_OPEN, TEXT_OPEN } from '../prompt/envelope.ts';

export function textBody(shaped: boolean): BodyReader {
  return {
    push: textParts,
    end: () => [],
    complete: false,
    calledTool: false,
    inText: true,
    takesControl: () => shaped,
  };
}

export class EnvelopeBody implements BodyReader {
  readonly #call = new CallReader({ beforeName: '', beforeArguments: CALL_BETWEEN, close: CALL_CLOSE });
  readonly #text = new JsonStringReader();
  #form: 'open' | 'call' | 'text' = 'open';
  #held = '';
  #parts: AnswerPart[] = [];

  get complete(): boolean {
    return this.#call.complete || this.#text.closed;
  }

  get calledTool(): boolean {
    return this.#call.complete;
  }

  get inText(): boolean {
    return this.#form === 'text' && !this.#text.closed;
  }

  takesControl(): boolean {
    return true;
  }

  push(piece: string): AnswerPart[] {
    let rest = piece;
    if (this.#form === 'open') {
      this.#held += piece;
      if (this.#held.startsWith(CALL_OPEN)) this.#form = 'call';
      else if (this.#held.startsWith(TEXT_OPEN)) this.#form = 'text';
      else return [];
      rest = this.#held.slice((this.#form === 'call' ? CALL_OPEN : TEXT_OPEN).length);
    }
    return this.#form === 'call' ? this.#readCall(rest) : textParts(this.#text.push(rest));
  }

  #readCall(text: string): AnswerPart[] {
    for (const part of this.#call.push(text)) this.#parts.push(part);
    if (!this.#call.complete) return [];
    const whole = this.#parts;
    this.#parts = [];
    return whole;
  }

  end(): AnswerPart[] {
    return [];
  }
}

function textParts(text: string): AnswerPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** Decodes the content of a JSON string that arrives in pieces; never releases half an escape or half a pair. */
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export class JsonStringReader {
  #held = '';
  #closed = false;

  get closed(): boolean {
    return this.#closed;
  }

  push(piece: string): string {
    if (this.#closed) return '';
    const text = this.#held + piece;
    this.#held = '';
    let out = '';
    let at = 0;
    while (at < text.length) {
      const char = text[at] ?? '';
      if (char === '"') {
        this.#closed = true;
        return out.toWellFormed();
      }
      if (char !== '\\') {
        out += char;
        at += 1;
        continue;
      }
      const length = text[at + 1] === 'u' ? 6 : 2;
      if (at + length > text.length) break;
      out += decoded(text.slice(at, at + length));
      at += length;
    }
    this.#held = text.slice(at);
    return this.#wholeCharacters(out);
  }

  /** A high surrogate at the end waits for its partner, spelled as an escape again. */
  #wholeCharacters(text: string): string {
    const last = text.charCodeAt(text.length - 1);
    if (!(last >= 0xd800 && last <= 0xdbff)) return text.toWellFormed();
    this.#held = `\\u${last.toString(16)}${this.#held}`;
    return text.slice(0, -1).toWellFormed();
  }
}

function decoded(escape: string): string {
  if (escape.length === 6) return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  const letter = escape[1] ?? '';
  return ESCAPES[letter] ?? letter;
}
