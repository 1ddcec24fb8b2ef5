/**
 * Byte tokens. A tokenizer falls back to them for characters without a token; if one is missing, llama.cpp ends the
 * process or loops forever.
 */

type Bytes = Uint8Array;

export class ByteTokens {
  /** `<0x0A>`, or the byte itself. */
  readonly #fallback: Bytes = new Uint8Array(256);
  /** RWKV's spellings: the byte itself, `\n`, `\x0a`. */
  readonly #escaped: Bytes = new Uint8Array(256);
  /** Ids of tokens spelled `<0x..>`; few, because a vocabulary has no two equal tokens. */
  readonly spelled = new Set<number>();

  note(bytes: Buffer, start: number, end: number, id: number): void {
    const length = end - start;
    const first = bytes[start] as number;
    if (length === 1) {
      this.#fallback[first] = 1;
      this.#escaped[first] = 1;
    } else if (length === 6 && first === LESS_THAN && bytes[start + 1] === ZERO) {
      this.#noteSpelled(bytes.toString('latin1', start, end), id);
    } else if (length <= 4 && first === BACKSLASH) {
      const byte = unescaped(bytes.toString('latin1', start, end));
      if (byte !== null) this.#escaped[byte] = 1;
    }
  }

  get missing(): number | null {
    return firstZero(this.#fallback);
  }

  get missingEscaped(): number | null {
    return firstZero(this.#escaped);
  }

  #noteSpelled(text: string, id: number): void {
    if (!/^<0x..>$/s.test(text)) return;
    this.spelled.add(id);
    const byte = /^<0x([0-9A-F]{2})>$/.exec(text)?.[1];
    if (byte !== undefined) this.#fallback[Number.parseInt(byte, 16)] = 1;
  }
}

const LESS_THAN = 0x3c;
const ZERO = 0x30;
const BACKSLASH = 0x5c;
const ESCAPES: Readonly<Record<string, number>> = { '\\t': 9, '\\n': 10, '\\r': 13 };

function unescaped(text: string): number | null {
  const hex = /^\\x([0-9a-f]{2})$/.exec(text)?.[1];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  if (text.length !== 2 || text === '\\x') return null;
  return ESCAPES[text] ?? text.charCodeAt(1);
}

function firstZero(bytes: Bytes): number | null {
  const at = bytes.indexOf(0);
  return at < 0 ? null : at;
}
