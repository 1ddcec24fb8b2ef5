import type { MediumRows } from '../../native.ts';

/** The rows of one sequence in one native call: tokens, and padding after them. */
export interface Row {
  readonly sequence: number;
  /** Position of the first token in the sequence. */
  readonly position: number;
  readonly tokens: Uint32Array;
  /** Number of last tokens whose logits are wanted. */
  readonly logits: number;
  /** Number of these that the answer is sampled from; absent: all. */
  readonly sampled?: number;
  /** Number of last tokens that are drafts, which stay only if the sampler chooses the same. */
  readonly drafts?: number;
  /** Rows evaluated after the tokens and dropped at once; later rows never change earlier ones. */
  readonly padding?: number;
  /** Number of positions saved before it by images; absent: none. */
  readonly spared?: number;
  /** Content instead of tokens: rows of an image, which are alone in their call. */
  readonly medium?: Omit<MediumRows, 'sequence'>;
}

/** Rows of a native call, padding included, and tokens before a row on average. */
export function callShape(nativeRows: readonly Row[]): { rows: number; depth: number } {
  const rows = nativeRows.reduce((sum, { tokens, padding = 0 }) => sum + tokens.length + padding, 0);
  const depth = nativeRows.reduce((sum, { position }) => sum + position, 0) / nativeRows.length;
  return { rows, depth };
}
