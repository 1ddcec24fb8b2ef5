/**
 * worker/answer/calls owns how answers with tool calls are parsed, and the grammar that lets a model write them. It
 * knows nothing of thinking, of tokens and of the native library. This file: the characters of an answer. Readers are
 * generators written as if all text had arrived; they wait inside `take` for the next piece, so cuts between pieces
 * cannot matter.
 */
export type Reading<T = void> = Generator<void, T, void>;

export const END = '';

export class CharSource {
  readonly #back: string[] = [];
  #piece = '';
  #at = 0;
  #ended = false;
  #isCut = false;
  #recorded: string[] | null = null;

  push(piece: string): void {
    this.#piece = this.#piece.slice(this.#at) + piece;
    this.#at = 0;
  }

  end(isCut: boolean): void {
    this.#ended = true;
    this.#isCut = isCut;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  record(text: string | null): void {
    this.#recorded = text === null ? null : text.split('');
  }

  recorded(): string {
    return this.#recorded?.join('') ?? '';
  }

  *take(): Reading<string> {
    const back = this.#back.pop();
    if (back !== undefined) {
      this.#recorded?.push(back);
      return back;
    }
    while (this.#at >= this.#piece.length) {
      if (this.#ended) return END;
      yield;
    }
    const char = this.#piece[this.#at] ?? END;
    this.#at += 1;
    this.#recorded?.push(char);
    return char;
  }

  /** Puts characters back. Not after a cut: a reader that waited for more had not decided on them. */
  giveBack(text: string): void {
    if (this.#recorded !== null) this.#recorded.length = Math.max(0, this.#recorded.length - text.length);
    if (this.#isCut) return;
    for (const char of [...text].reverse().flatMap((point) => point.split('').reverse()))
      this.#back.push(char);
  }

  *takeSpace(): Reading<string> {
    let space = '';
    for (;;) {
      const char = yield* this.take();
      if (char === END || !/\s/.test(char)) {
        this.giveBack(char);
        return space;
      }
      space += char;
    }
  }

  /**
   * Reads the longest text that matches, ignoring white space on both sides, and returns its index; -1 (nothing read)
   * if none matches. White space at the end of the text is read as far as it matches.
   */
  *takeAny(texts: readonly string[]): Reading<number> {
    const wanted = texts.map((text) => text.replaceAll(/\s+/g, ''));
    let alive = [...wanted.keys()].filter((index) => wanted[index] !== '');
    let found = -1;
    let behind = '';
    for (let at = 0; alive.length > 0; at += 1) {
      behind += yield* this.takeSpace();
      const char = yield* this.take();
      behind += char;
      alive = alive.filter((index) => wanted[index]?.[at] === char && char !== END);
      const done = alive.find((index) => wanted[index]?.length === at + 1);
      if (done === undefined) continue;
      found = done;
      behind = '';
      alive = alive.filter((index) => index !== done);
    }
    this.giveBack(behind);
    const text = texts[found] ?? '';
    if (found >= 0) yield* this.#takeTrailing(text.slice(text.trimEnd().length));
    return found;
  }

  /** Whether the first text follows, and not a longer one of the others. Reads nothing. */
  *isNext(text: string, others: readonly string[]): Reading<boolean> {
    const wanted = [text, ...others].map((each) => each.replaceAll(/\s+/g, ''));
    const longest = Math.max(...wanted.map((each) => each.length));
    let read = '';
    let chars = '';
    while (
      chars.length < longest &&
      wanted.some((each) => each.length > chars.length && each.startsWith(chars))
    ) {
      read += yield* this.takeSpace();
      const char = yield* this.take();
      if (char === END) break;
      read += char;
      chars += char;
    }
    this.giveBack(read);
    const [first = '', ...rest] = wanted;
    const isOther = rest.some((each) => each.length > first.length && chars.startsWith(each));
    return chars.startsWith(first) && !isOther;
  }

  *#takeTrailing(space: string): Reading {
    for (const wanted of space) {
      const char = yield* this.take();
      if (char === wanted) continue;
      this.giveBack(char);
      return;
    }
  }

  /** Returns the text before `text`, and consumes both; null if the answer ended first. */
  *takeUntil(text: string): Reading<string | null> {
    const finder = new TextFinder(text);
    const parts: string[] = [];
    for (;;) {
      const char = yield* this.take();
      if (char === END) return null;
      parts.push(char);
      if (finder.push(char)) return parts.join('').slice(0, -text.length);
    }
  }

  *takeWhile(isWanted: (char: string) => boolean): Reading<string> {
    let text = '';
    for (;;) {
      const char = yield* this.take();
      if (char === END || !isWanted(char)) {
        this.giveBack(char);
        return text;
      }
      text += char;
    }
  }
}

class TextFinder {
  readonly #text: string;
  readonly #borders: number[] = [0];
  #matched = 0;

  constructor(text: string) {
    this.#text = text;
    for (let at = 1, border = 0; at < text.length; at += 1) {
      while (border > 0 && text[at] !== text[border]) border = this.#borders[border - 1] ?? 0;
      if (text[at] === text[border]) border += 1;
      this.#borders.push(border);
    }
  }

  push(char: string): boolean {
    while (this.#matched > 0 && char !== this.#text[this.#matched])
      this.#matched = this.#borders[this.#matched - 1] ?? 0;
    if (char === this.#text[this.#matched]) this.#matched += 1;
    if (this.#matched < this.#text.length) return false;
    this.#matched = 0;
    return true;
  }
}
