/** What every token of a vocabulary writes, side by side, for grammars. */
import type { Vocabulary } from '../../prompt/vocabulary.ts';

/** Tokens read at a time, while other answers wait: about two milliseconds. */
const SLICE = 2_048;

export class TokenTexts {
  readonly size: number;
  readonly #vocabulary: Vocabulary;
  #bytes = new Uint8Array(1 << 16);
  /** By token: where its bytes begin; one more entry for the end of the last. */
  readonly #offsets: Int32Array;
  readonly #isEnd: Uint8Array;
  #read = 0;
  #isReading = false;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    this.size = vocabulary.size;
    this.#offsets = new Int32Array(vocabulary.size + 1);
    this.#isEnd = new Uint8Array(vocabulary.size);
  }

  /** Reads the rest little by little; a vocabulary of 260,000 tokens takes most of a second. */
  prepare(): void {
    if (this.#isReading || this.#read === this.size) return;
    this.#isReading = true;
    const next = (): void => {
      this.#readTo(Math.min(this.size, this.#read + SLICE));
      if (this.#read < this.size) setImmediate(next);
      else this.#isReading = false;
    };
    setImmediate(next);
  }

  /** Ends an answer. */
  isEnd(token: number): boolean {
    return token < this.#read ? this.#isEnd[token] === 1 : this.#vocabulary.isEnd(token);
  }

  /** Control tokens stand for their text, because marks that a grammar asks for may be such tokens. */
  bytesOf(token: number): Uint8Array {
    if (token < this.#read)
      return this.#bytes.subarray(this.#offsets[token] ?? 0, this.#offsets[token + 1] ?? 0);
    const control = this.#vocabulary.controlTextOf(token);
    return control === null ? this.#vocabulary.bytesOf(token) : Buffer.from(control, 'utf8');
  }

  /** All of them at once: the bytes, and by token where they begin. */
  all(): { readonly bytes: Uint8Array; readonly offsets: Int32Array; readonly isEnd: Uint8Array } {
    this.#readTo(this.size);
    return { bytes: this.#bytes, offsets: this.#offsets, isEnd: this.#isEnd };
  }

  #readTo(end: number): void {
    for (let token = this.#read; token < end; token += 1) {
      const bytes = this.bytesOf(token);
      const at = this.#offsets[token] ?? 0;
      if (at + bytes.length > this.#bytes.length) this.#grow(at + bytes.length);
      this.#bytes.set(bytes, at);
      this.#offsets[token + 1] = at + bytes.length;
      this.#isEnd[token] = this.#vocabulary.isEnd(token) ? 1 : 0;
      this.#read = token + 1;
    }
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
