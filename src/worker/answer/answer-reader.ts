import type { AnswerParser, AnswerPart } from './answer.ts';
import type { BodyReader } from './calls/body.ts';
import type { ThinkingPlace } from './answer-grammar.ts';

export class AnswerReader implements AnswerParser {
  readonly #place: ThinkingPlace;
  readonly #body: BodyReader;
  #state: 'start' | 'thinking' | 'gap' | 'body';
  #held = '';
  /** White space at the end of a thought, held back: the last of it belongs to the closing mark. */
  #heldSpace = '';
  #thought = false;
  /** The opening mark can no longer follow: some models repeat the one that the prompt ends with. */
  #opened = false;

  constructor(place: ThinkingPlace, body: BodyReader) {
    this.#place = place;
    this.#body = body;
    this.#state = place.at === 'nowhere' ? 'body' : place.at === 'open' ? 'thinking' : 'start';
  }

  get complete(): boolean {
    return this.#body.complete;
  }

  get calledTool(): boolean {
    return this.#body.calledTool;
  }

  get inText(): boolean {
    return this.#state !== 'thinking' && this.#body.inText;
  }

  get thinking(): boolean {
    return this.#state === 'thinking';
  }

  text(piece: string): AnswerPart[] {
    if (piece === '') return [];
    switch (this.#state) {
      case 'start':
        return this.#start(piece);
      case 'thinking':
        return this.#think(piece);
      case 'gap':
        return this.#gap(piece);
      case 'body':
        return this.#body.push(piece);
      default:
        return this.#state satisfies never;
    }
  }

  control(text: string): AnswerPart[] {
    const { at } = this.#place;
    if (at !== 'nowhere') {
      const { open, close } = this.#place.marks;
      // A mark may be several tokens, or a token and a word.
      if (this.#state === 'start' && open.includes(text)) return this.text(text);
      const isOpening = !this.#opened && open.includes(text);
      if (this.#state === 'thinking') return isOpening || close.includes(text) ? this.text(text) : [];
    }
    return this.#body.takesControl(text) ? this.text(text) : [];
  }

  end(isCut: boolean): AnswerPart[] {
    const held = isCut ? '' : this.#held;
    this.#held = '';
    if (this.#state === 'thinking') return this.#thoughts(held);
    const words = this.#state === 'start' && held !== '' ? this.#body.push(held) : [];
    return [...words, ...this.#body.end(isCut)];
  }

  #start(piece: string): AnswerPart[] {
    if (this.#place.at === 'nowhere') return this.#body.push(piece);
    this.#held += piece;
    const { open } = this.#place.marks;
    const text = this.#held.trimStart();
    if (text.length < open.length && open.startsWith(text)) return [];
    const held = this.#held;
    this.#held = '';
    if (text.startsWith(open)) {
      this.#state = 'thinking';
      this.#opened = true;
      return this.text(text.slice(open.length));
    }
    this.#state = 'body';
    return this.#body.push(held);
  }

  #think(piece: string): AnswerPart[] {
    if (this.#place.at === 'nowhere') return [];
    const { close } = this.#place.marks;
    this.#held += piece;
    if (!this.#opened && !this.#opens(this.#place.marks.open)) return [];
    const text = this.#held;
    const found = text.indexOf(close);
    if (found >= 0) {
      this.#held = '';
      this.#state = 'gap';
      return [...this.#thoughts(text.slice(0, found)), ...this.text(text.slice(found + close.length))];
    }
    let keep = Math.min(close.length - 1, text.length);
    while (keep > 0 && !close.startsWith(text.slice(-keep))) keep -= 1;
    this.#held = text.slice(text.length - keep);
    return this.#thoughts(text.slice(0, text.length - keep));
  }

  /** Leaves out a repeated opening mark; false: the held text may still become one. */
  #opens(open: string): boolean {
    const text = this.#held.trimStart();
    if (text.length < open.length && open.startsWith(text)) return false;
    this.#opened = true;
    if (text.startsWith(open)) this.#held = text.slice(open.length);
    return true;
  }

  #gap(piece: string): AnswerPart[] {
    const text = piece.trimStart();
    if (text === '') return [];
    this.#state = 'body';
    return this.#body.push(text);
  }

  #thoughts(text: string): AnswerPart[] {
    const all = this.#heldSpace + (this.#thought ? text : text.trimStart());
    const shown = all.trimEnd();
    this.#heldSpace = shown === '' && !this.#thought ? '' : all.slice(shown.length);
    if (shown === '') return [];
    this.#thought = true;
    return [{ type: 'reasoning', text: shown }];
  }
}
