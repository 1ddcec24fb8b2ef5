/**
 * KV-cache reuse for resent answers. A client sends an answer back as text, and re-tokenising may split it in another
 * way than the model did, which would end the cache hit at the first difference. So a prompt whose bytes match a
 * cached sequence adopts that sequence's tokens, up to the last token boundary that both share. Pure.
 */
import { isRow } from '../../media/rows.ts';
import { commonPrefix } from '../stream/common-prefix.ts';

export interface TokenText {
  tokenBytes(token: number): Uint8Array;
  /** The token represents only its bytes. A control token, or a mark of the template, never replaces text. */
  isPlain(token: number): boolean;
}

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

interface SharedBoundary {
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

interface TextMatch extends SharedBoundary {
  readonly sameTokens: number;
}

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

class ByteReader {
  readonly #tokens: ArrayLike<number>;
  readonly #text: TokenText;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  tokensRead: number;

  constructor(tokens: ArrayLike<number>, tokensRead: number, text: TokenText) {
    this.#tokens = tokens;
    this.tokensRead = tokensRead;
    this.#text = text;
  }

  get atBoundary(): boolean {
    return this.#at === this.#bytes.length;
  }

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
