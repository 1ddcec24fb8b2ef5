/** Repetition guard for upstream answers: pieces of words replace the unknown tokens. */
import { RepetitionGuard } from '../../../../lib/base/repetition-guard.ts';

/** Roughly the pieces of a tokenizer. */
const WORDS = /\p{L}{1,6}|\d{1,3}|[^\S\n]+|\n+|[^\p{L}\d\s]/gu;

export class UpstreamWords {
  readonly #tokens: number[] = [];
  readonly #words: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #guard: RepetitionGuard | null;

  constructor(limit: number) {
    const joinWords = (tokens: readonly number[]): string =>
      tokens.map((token) => this.#words[token]).join('');
    this.#guard = limit === 0 ? null : new RepetitionGuard(limit, this.#tokens, joinWords);
  }

  get isOver(): boolean {
    return this.#guard?.isOver === true;
  }

  add(text: string): void {
    if (this.#guard === null) return;
    for (const [word] of text.matchAll(WORDS)) {
      this.#tokens.push(this.#wordId(word));
      this.#guard.note();
      if (this.#guard.isOver) return;
    }
  }

  #wordId(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    const id = this.#words.push(word) - 1;
    this.#ids.set(word, id);
    return id;
  }
}

/**
 * Joins characters split over two pieces: surrogate pairs, or a U+FFFD that a decoder wrote for the first bytes of a
 * character. Half a character left by a limit at the end is dropped.
 */
export class WholeCharacters {
  #held = '';

  take(piece: string): string {
    const text = this.#held + piece;
    const end = text.length - unfinished(text);
    this.#held = text.slice(end);
    return text.slice(0, end).toWellFormed();
  }

  end(isCut: boolean): string {
    const held = this.#held.toWellFormed();
    this.#held = '';
    return isCut ? '' : held;
  }
}

/** The start of an unfinished UTF-8 character has at most three bytes. */
const MOST_REPLACED = 3;

function unfinished(text: string): number {
  if (/[\ud800-\udbff]/.test(text.at(-1) ?? '')) return 1;
  let count = 0;
  while (count < MOST_REPLACED && text.at(-1 - count) === '\ufffd') count += 1;
  return count;
}
