/** The guard of repetition over what an upstream says: its tokens are not told, so pieces of words stand for them. */
import { RepetitionGuard } from '../../../lib/base/repetition-guard.ts';

/** About what tokenizers make of a text. */
const WORDS = /\p{L}{1,6}|\d{1,3}|[^\S\n]+|\n+|[^\p{L}\d\s]/gu;

export class SaidWords {
  readonly #tokens: number[] = [];
  readonly #words: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #guard: RepetitionGuard | null;

  /** 0: nothing is looked for. */
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
