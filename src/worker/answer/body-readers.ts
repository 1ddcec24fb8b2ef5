/** Readers of an answer's body, one per way of writing it. The thinking before it is read elsewhere. */
import type { AnswerPart } from './answer.ts';
import { CallReader } from './call-reader.ts';
import { CALL_BETWEEN, CALL_CLOSE, CALL_OPEN, TEXT_OPEN } from '../prompt/envelope.ts';
import { JsonStringReader } from './json-string-reader.ts';
import type { ToolFamily } from '../../lib/chat-template/tool-families.ts';

export interface BodyReader {
  push(text: string): AnswerPart[];
  end(): AnswerPart[];
  readonly complete: boolean;
  /** True when a whole call was read: half a call is no call. */
  readonly calledTool: boolean;
  /** False while only words around the text, or a call, are read. */
  readonly inText: boolean;
  /** Whether a control token here stands for its text, because a grammar or a mark asked for that text. */
  takesControl(text: string): boolean;
}

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
    return this.#form === 'call' ? this.#call.push(rest) : textParts(this.#text.push(rest));
  }

  end(): AnswerPart[] {
    return [];
  }
}

/** Text up to the mark of a family's call, then the call. */
export class FamilyBody implements BodyReader {
  readonly #family: ToolFamily;
  readonly #shaped: boolean;
  readonly #call: CallReader;
  #inCall = false;
  #wroteText = false;
  #held = '';

  constructor(family: ToolFamily, shaped: boolean) {
    this.#family = family;
    this.#shaped = shaped;
    this.#call = new CallReader(family);
  }

  get complete(): boolean {
    return this.#call.complete;
  }

  get calledTool(): boolean {
    return this.#call.complete;
  }

  get inText(): boolean {
    return !this.#inCall;
  }

  takesControl(text: string): boolean {
    return this.#inCall || this.#shaped || text === this.#family.open;
  }

  push(piece: string): AnswerPart[] {
    if (this.#inCall) return this.#call.push(piece);
    const { open, atStart } = this.#family;
    if (atStart && this.#wroteText) return textParts(piece);
    const text = this.#held + piece;
    const found = atStart ? (text.startsWith(open) ? 0 : -1) : text.indexOf(open);
    if (found >= 0) {
      this.#inCall = true;
      this.#held = '';
      return [
        ...textParts(text.slice(0, found).trimEnd()),
        ...this.#call.push(text.slice(found + open.length)),
      ];
    }
    const keep = atStart ? (open.startsWith(text) ? text.length : 0) : heldLength(text, open);
    this.#held = text.slice(text.length - keep);
    this.#wroteText = keep < text.length;
    return textParts(text.slice(0, text.length - keep));
  }

  end(): AnswerPart[] {
    const held = this.#held;
    this.#held = '';
    return this.#inCall ? [] : textParts(held);
  }
}

/** The part of the end that could still become the mark, together with white space before it. */
function heldLength(text: string, mark: string): number {
  let keep = 0;
  for (let length = Math.min(mark.length - 1, text.length); length > 0 && keep === 0; length -= 1)
    if (mark.startsWith(text.slice(-length))) keep = length;
  const before = text.slice(0, text.length - keep);
  return keep + before.length - before.trimEnd().length;
}

function textParts(text: string): AnswerPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}
