export interface PairTokens {
  readonly first: readonly number[];
  readonly between: readonly number[];
  readonly last: readonly number[];
}

/** Tokens around a gap that the model is to fill: before what precedes it, before what follows it, before the answer. */
export interface GapTokens {
  readonly prefix: number;
  readonly suffix: number;
  readonly middle: number;
  /** Before the name of a repository and of each file; null if the vocabulary has none. */
  readonly repository: number | null;
  readonly file: number | null;
}

/** The interface of prompts and answers to the model's vocabulary. */
export interface Vocabulary {
  readonly size: number;
  /** Text of the beginning and end tokens, as templates print them. */
  readonly bosText: string;
  readonly eosText: string;
  /** Every text that the tokeniser would turn into a control token. */
  readonly controlTexts: readonly string[];
  /** Texts of further tokens that the tokeniser looks for before all others: marks, and in some vocabularies plain words. */
  readonly userDefinedTexts: readonly string[];
  /** Texts of tokens that the tokeniser looks for before all others, and that take nothing from the text before them. */
  readonly separateTexts: readonly string[];
  /** Tokens that a model expects around any input, by its own metadata. */
  readonly prependToken: number | null;
  readonly appendToken: number | null;
  /** Tokens around and between the two texts of a pair. */
  readonly pair: PairTokens;
  /** Null if the vocabulary has none. */
  readonly gap: GapTokens | null;
  /** Every token that ends an answer. */
  readonly endTokens: readonly number[];
  /** The fewest tokens of text of this number of bytes; 0 if the tokeniser may drop text. */
  leastTokens(bytes: number): number;
  /** With `controls`, control texts become control tokens; without, they stay plain text. */
  tokenize(text: string, controls: boolean): Uint32Array;
  /** The same, with control tokens, for text that continues other text: nothing is put before it. */
  tokenizeNext(text: string): Uint32Array;
  /** The bytes that a token adds to the answer; empty for control tokens. */
  tokenBytes(token: number): Uint8Array;
  /** Whether the token is only its bytes: not a control token, and not a mark that the tokeniser matches first. */
  isPlain(token: number): boolean;
  /** The text of a control token, or null when the token is ordinary text. */
  controlText(token: number): string | null;
  isEnd(token: number): boolean;
}
