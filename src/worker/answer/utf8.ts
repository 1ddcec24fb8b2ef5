const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Joins the bytes of tokens into text without ever splitting a character: the bytes of an unfinished character wait
 * for the next token, and are no text where none comes. Bytes that can never become valid are replaced by U+FFFD, as
 * every decoder does.
 */
export class Utf8Assembler {
  #decoder = newDecoder();
  #halfTokens = 0;

  push(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#halfTokens = text === '' && bytes.length > 0 ? this.#halfTokens + 1 : 0;
    return text;
  }

  /** Consecutive tokens that brought only a part of the waiting character. */
  get halfTokens(): number {
    return this.#halfTokens;
  }

  /** Drops the unfinished character, because something else follows it. */
  drop(): void {
    this.#decoder = newDecoder();
    this.#halfTokens = 0;
  }
}
