/**
 * Joins the bytes of tokens into text without ever splitting a character: the bytes of an unfinished character wait
 * for the next token. Bytes that can never become valid are replaced by U+FFFD, as every decoder does.
 */
export class Utf8Assembler {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  push(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  /** Ends the text: what waits is incomplete for good. */
  end(): string {
    return this.#decoder.decode();
  }
}
