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
  const plain = Math.max(0, ...sequences.map((tokens) => commonPrefix(prompt, tokens)));
  let best = { ofPrompt: plain, known: [] as readonly number[] };
  for (const tokens of sequences) {
    const shared = sharedText(prompt, tokens, text);
    if (shared.ofPrompt > best.ofPrompt)
      best = { ofPrompt: shared.ofPrompt, known: tokens.slice(0, shared.ofKnown) };
  }
  if (best.known.length === 0) return prompt;
  return Uint32Array.of(...best.known, ...prompt.subarray(best.ofPrompt));
}

interface Shared {
  readonly ofPrompt: number;
  readonly ofKnown: number;
}

/** How far both are the same text, up to the last place where both have a token's end. */
function sharedText(prompt: Uint32Array, known: readonly number[], text: TokenText): Shared {
  const tokens = Uint32Array.from(known);
  let ofPrompt = 0;
  let ofKnown = 0;
  for (;;) {
    const same = commonPrefix(prompt.subarray(ofPrompt), tokens.subarray(ofKnown));
    ofPrompt += same;
    ofKnown += same;
    const bridge = bridgeOver(prompt.subarray(ofPrompt), tokens.subarray(ofKnown), text);
    if (bridge === null) return { ofPrompt, ofKnown };
    ofPrompt += bridge.ofPrompt;
    ofKnown += bridge.ofKnown;
  }
}

/** The next place where tokens that differ have said the same bytes; null when they do not come to one. */
function bridgeOver(prompt: ArrayLike<number>, known: ArrayLike<number>, text: TokenText): Shared | null {
  const one = new ByteReader(prompt, text);
  const other = new ByteReader(known, text);
  do {
    const byte = one.next();
    if (byte === null || byte !== other.next()) return null;
  } while (!one.atEnd || !other.atEnd);
  return { ofPrompt: one.tokens, ofKnown: other.tokens };
}

/** The bytes of tokens, one after the other. */
class ByteReader {
  readonly #from: ArrayLike<number>;
  readonly #text: TokenText;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  /** Tokens begun. */
  tokens = 0;

  constructor(from: ArrayLike<number>, text: TokenText) {
    this.#from = from;
    this.#text = text;
  }

  /** Whether all that was begun is read. */
  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Null at the end, and before a token that is not plain. */
  next(): number | null {
    if (this.atEnd) {
      const token = this.#from[this.tokens];
      if (token === undefined || !this.#text.isPlain(token)) return null;
      this.tokens++;
      this.#bytes = this.#text.bytesOf(token);
      this.#at = 0;
      // A plain token without bytes tells nothing about the text.
      if (this.#bytes.length === 0) return null;
    }
    return this.#bytes[this.#at++] ?? null;
  }
}
