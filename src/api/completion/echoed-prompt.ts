/** Where the tokens of a prompt begin in the text that is echoed of it. */

/** Characters that begin in these bytes of UTF-8. */
export function charactersIn(bytes: Iterable<number>): number {
  let characters = 0;
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) characters += 1;
  return characters;
}

const SPACE = 0x20;

export class EchoedPrompt {
  /** Null: the text is what the tokens spell. */
  readonly #known: Buffer | null;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #at = 0;
  #spelled = '';
  /** Passed so far. */
  characters = 0;

  constructor(known: string | null) {
    this.#known = known === null ? null : Buffer.from(known);
  }

  /** Goes on behind the token, and returns the character at which it begins. */
  pass(bytes: readonly number[]): number {
    const begins = this.characters;
    const passed = this.#known === null ? bytes : this.#foundIn(this.#known, bytes);
    if (this.#known === null) this.#spelled += this.#decoder.decode(Uint8Array.from(bytes), { stream: true });
    this.#at += passed.length;
    this.characters += charactersIn(passed);
    return begins;
  }

  /** The text of tokens that were passed since it was asked for last. */
  spelled(): string {
    const text = this.#spelled;
    this.#spelled = '';
    return text;
  }

  /** A tokenizer may add a mark or a space, which the text does not have. */
  #foundIn(known: Buffer, bytes: readonly number[]): readonly number[] {
    if (this.#isNext(known, bytes)) return bytes;
    const rest = bytes[0] === SPACE ? bytes.slice(1) : [];
    return this.#isNext(known, rest) ? rest : [];
  }

  #isNext(known: Buffer, bytes: readonly number[]): boolean {
    return bytes.every((byte, at) => known[this.#at + at] === byte);
  }
}
