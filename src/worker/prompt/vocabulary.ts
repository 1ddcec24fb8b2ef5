export interface PairTokens {
  readonly first: readonly number[];
  readonly between: readonly number[];
  readonly last: readonly number[];
}

/** Tokens for a gap to fill: before the text before it, before the text after it, before the answer. */
export interface GapTokens {
  readonly prefix: number;
  readonly suffix: number;
  readonly middle: number;
  /** Before the name of a repository and of each file; null if the vocabulary has none. */
  readonly repository: number | null;
  readonly file: number | null;
}

export interface Vocabulary {
  readonly size: number;
  readonly bosText: string;
  readonly eosText: string;
  /** Every text that the tokeniser would turn into a control token. */
  readonly controlTexts: readonly string[];
  /**
   * Texts of further tokens that the tokeniser matches before all others: marks, and in some vocabularies plain
   * words.
   */
  readonly userDefinedTexts: readonly string[];
  /** Texts of tokens that the tokeniser matches before all others, without trimming the text before them. */
  readonly separateTexts: readonly string[];
  /** Tokens that a model expects around any input, by its own metadata. */
  readonly prependToken: number | null;
  readonly appendToken: number | null;
  readonly pair: PairTokens;
  readonly gap: GapTokens | null;
  readonly endTokens: readonly number[];
  /** The fewest tokens of a text of this length; 0 if the tokeniser may drop text. */
  leastTokens(bytes: number): number;
  /** With `controls`, control texts become control tokens; without, they stay plain text. */
  tokenize(text: string, controls: boolean): Uint32Array;
  /** With control tokens, for text that continues other text: nothing is put before it. */
  tokenizeNext(text: string): Uint32Array;
  /** Bytes that a token adds to the answer; empty for control tokens. */
  tokenBytes(token: number): Uint8Array;
  /** The token is only its bytes: not a control token, and not a mark that the tokeniser matches first. */
  isPlain(token: number): boolean;
  controlText(token: number): string | null;
  isEnd(token: number): boolean;
}
