/** Readers of an answer's body, one per syntax. The thinking before it is parsed elsewhere. */
import type { AnswerPart, BodyReader } from './calls/body.ts';
import { CallReader } from './call-reader.ts';
import { CALL_BETWEEN, CALL_CLOSE, CALL_OPEN, TEXT_OPEN } from '../prompt/envelope.ts';
import { JsonStringReader } from './json-string-reader.ts';

/** Everything is text. With `shaped`, a grammar chose every character, those of control tokens too. */
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
  /** The call, until it is whole. */
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
