/** Decodes the content of a JSON string that arrives in pieces; never releases half an escape or half a pair. */
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export class JsonStringReader {
  #held = '';
  #closed = false;

  /** True once the closing quote has been read. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The decoded text; what follows the closing quote is dropped. */
  push(piece: string): string {
    if (this.#closed) return '';
    const text = this.#held + piece;
    this.#held = '';
    let out = '';
    let at = 0;
    while (at < text.length) {
      const char = text[at] ?? '';
      if (char === '"') {
        this.#closed = true;
        return out.toWellFormed();
      }
      if (char !== '\\') {
        out += char;
        at += 1;
        continue;
      }
      const length = text[at + 1] === 'u' ? 6 : 2;
      if (at + length > text.length) break;
      out += decoded(text.slice(at, at + length));
      at += length;
    }
    this.#held = text.slice(at);
    return this.#wholeCharacters(out);
  }

  /** A high surrogate at the end waits for its partner, spelled as an escape again. */
  #wholeCharacters(text: string): string {
    const last = text.charCodeAt(text.length - 1);
    if (!(last >= 0xd800 && last <= 0xdbff)) return text.toWellFormed();
    this.#held = `\\u${last.toString(16)}${this.#held}`;
    return text.slice(0, -1).toWellFormed();
  }
}

function decoded(escape: string): string {
  if (escape.length === 6) return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
  const letter = escape[1] ?? '';
  return ESCAPES[letter] ?? letter;
}
