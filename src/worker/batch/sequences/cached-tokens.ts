/**
 * KV-cache reuse for resent answers. A client sends an answer back as text, and re-tokenising it may split it otherwise
 * than the model did, which would lose the cache from the first difference on. So a prompt whose bytes match a cached
 * sequence adopts that sequence's tokens, up to the last token boundary that both share. Pure.
 */
import { isRow } from '../../media/rows.ts';
import { commonPrefix } from '../stream/common-prefix.ts';

export interface TokenText {
  tokenBytes(token: number): Uint8Array;
  /** The token represents only its bytes. A control token, or a mark of the template, never replaces text. */
  isPlain(token: number): boolean;
}

/** The prompt in the tokens of the cached sequence that matches most of its text, or unchanged if that gains nothing. */
export function withCachedTokens(
  prompt: Uint32Array,
  sequences: readonly ArrayLike<number>[],
  text: TokenText,
): Uint32Array {
  const matches = sequences.map((cached) => ({ cached, ...matchText(prompt, cached, text) }));
  const bestUnchanged = Math.max(0, ...matches.map(({ sameTokens }) => sameTokens));
  const [best] = matches.sort((a, b) => b.promptTokens - a.promptTokens);
  if (best === undefined || best.promptTokens <= bestUnchanged) return prompt;
  const adopted = Uint32Array.from(best.cached).subarray(0, best.cachedTokens);
  return Uint32Array.of(...adopted, ...prompt.subarray(best.promptTokens));
}

/** A place in the text where a token of both ends, with the number of tokens of each before it. */
interface SharedBoundary {
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

interface TextMatch extends SharedBoundary {
  /** Length of the common prefix in tokens. */
  readonly sameTokens: number;
}

/** Length of the common text. */
function matchText(prompt: Uint32Array, cached: ArrayLike<number>, text: TokenText): TextMatch {
  const sameTokens = commonPrefix(prompt, cached);
  let at: SharedBoundary = { promptTokens: sameTokens, cachedTokens: sameTokens };
  for (;;) {
    const next = nextBoundary(prompt, cached, at, text);
    if (next === null) return { ...at, sameTokens };
    const same = commonPrefix(prompt, cached, next.promptTokens, next.cachedTokens);
    at = { promptTokens: next.promptTokens + same, cachedTokens: next.cachedTokens + same };
  }
}

/** The next boundary after tokens that differ but spell the same bytes; null when there is none. */
function nextBoundary(
  prompt: ArrayLike<number>,
  cached: ArrayLike<number>,
  from: SharedBoundary,
  text: TokenText,
): SharedBoundary | null {
  const promptBytes = new ByteReader(prompt, from.promptTokens, text);
  const cachedBytes = new ByteReader(cached, from.cachedTokens, text);
  do {
    const byte = promptBytes.next();
    if (byte === null || byte !== cachedBytes.next()) return null;
  } while (!promptBytes.atBoundary || !cachedBytes.atBoundary);
  return { promptTokens: promptBytes.tokensRead, cachedTokens: cachedBytes.tokensRead };
}

/** The bytes of tokens, one after the other. */
class ByteReader {
  readonly #tokens: ArrayLike<number>;
  readonly #text: TokenText;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  /** Tokens begun, from the first of the sequence on. */
  tokensRead: number;

  constructor(tokens: ArrayLike<number>, tokensRead: number, text: TokenText) {
    this.#tokens = tokens;
    this.tokensRead = tokensRead;
    this.#text = text;
  }

  get atBoundary(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Null at the end, and before a token that is not plain. */
  next(): number | null {
    if (this.atBoundary) {
      const token = this.#tokens[this.tokensRead];
      if (token === undefined || isRow(token) || !this.#text.isPlain(token)) return null;
      this.tokensRead += 1;
      this.#bytes = this.#text.tokenBytes(token);
      this.#at = 0;
      // A plain token without bytes matches no text.
      if (this.#bytes.length === 0) return null;
    }
    const byte = this.#bytes[this.#at] ?? null;
    this.#at += 1;
    return byte;
  }
}
