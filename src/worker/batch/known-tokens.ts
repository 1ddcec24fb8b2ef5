/**
 * An answer that a client sends back is text, and its shortest tokens need not be those in which the model said it.
 * From the first that differs on, the whole rest of the conversation would be read again. So a prompt whose beginning
 * is, byte for byte, what a sequence holds takes the tokens of that sequence. Pure.
 */
import { commonPrefix } from './prompt-cache.ts';

export interface TokenText {
  bytesOf(token: number): Uint8Array;
  /** Whether the token is nothing but its bytes; a control or a mark of the template never stands for text. */
  isPlain(token: number): boolean;
}

/** The same text, with the tokens of the sequence that holds most of it; the prompt itself where none holds more so. */
export function withKnownTokens(
  prompt: Uint32Array,
  sequences: readonly (readonly number[])[],
  text: TokenText,
): Uint32Array {
  const shared = sequences.map((tokens) => ({ tokens, ...sharedText(prompt, tokens, text) }));
  const plain = Math.max(0, ...shared.map(({ sameTokens }) => sameTokens));
  const [best] = shared.sort((a, b) => b.ofPrompt - a.ofPrompt);
  if (best === undefined || best.ofPrompt <= plain) return prompt;
  return Uint32Array.of(...best.tokens.slice(0, best.ofKnown), ...prompt.subarray(best.ofPrompt));
}

interface Place {
  readonly ofPrompt: number;
  readonly ofKnown: number;
}

/** How far both are the same text, up to the last place where both have a token's end; and how far the same tokens. */
function sharedText(
  prompt: Uint32Array,
  known: readonly number[],
  text: TokenText,
): Place & { readonly sameTokens: number } {
  const sameTokens = commonPrefix(prompt, known);
  let at: Place = { ofPrompt: sameTokens, ofKnown: sameTokens };
  for (;;) {
    const behind = bridgeOver(prompt, known, at, text);
    if (behind === null) return { ...at, sameTokens };
    const same = commonPrefix(prompt, known, behind.ofPrompt, behind.ofKnown);
    at = { ofPrompt: behind.ofPrompt + same, ofKnown: behind.ofKnown + same };
  }
}

/** The next place where tokens that differ have said the same bytes; null when they do not come to one. */
function bridgeOver(
  prompt: ArrayLike<number>,
  known: ArrayLike<number>,
  from: Place,
  text: TokenText,
): Place | null {
  const one = new ByteReader(prompt, from.ofPrompt, text);
  const other = new ByteReader(known, from.ofKnown, text);
  do {
    const byte = one.next();
    if (byte === null || byte !== other.next()) return null;
  } while (!one.atEnd || !other.atEnd);
  return { ofPrompt: one.place, ofKnown: other.place };
}

/** The bytes of tokens, one after the other. */
class ByteReader {
  readonly #from: ArrayLike<number>;
  readonly #text: TokenText;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  /** Behind the last token that was begun. */
  place: number;

  constructor(from: ArrayLike<number>, place: number, text: TokenText) {
    this.#from = from;
    this.place = place;
    this.#text = text;
  }

  /** Whether all that was begun is read. */
  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Null at the end, and before a token that is not plain. */
  next(): number | null {
    if (this.atEnd) {
      const token = this.#from[this.place];
      if (token === undefined || !this.#text.isPlain(token)) return null;
      this.place++;
      this.#bytes = this.#text.bytesOf(token);
      this.#at = 0;
      // A plain token without bytes tells nothing about the text.
      if (this.#bytes.length === 0) return null;
    }
    return this.#bytes[this.#at++] ?? null;
  }
}
