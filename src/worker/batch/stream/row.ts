import type { MediumRows } from '../../native.ts';

/** The rows of one sequence in one native call: tokens, and padding after them. */
export interface Row {
  readonly sequence: number;
  /** Position of the first token in the sequence. */
  readonly position: number;
  readonly tokens: Uint32Array;
  /** Of how many of the last tokens the logits are wanted. */
  readonly logits: number;
  /** Of how many of these the answer is sampled; absent: of all. */
  readonly sampled?: number;
  /** How many of the last tokens are drafts, which stay only if the sampler chooses the same. */
  readonly drafts?: number;
  /** Rows evaluated after the tokens and forgotten at once; what comes later never changes what came before. */
  readonly padding?: number;
  /** How many fewer positions than tokens lie before it, because of images; absent: none. */
  readonly spared?: number;
  /** What stands in the place of tokens: rows of an image, which are alone in their call. */
  readonly medium?: Omit<MediumRows, 'sequence'>;
}

/** Rows of a native call, padding included, and tokens before a row on average. */
export function callShape(nativeRows: readonly Row[]): { rows: number; depth: number } {
  const rows = nativeRows.reduce((sum, { tokens, padding = 0 }) => sum + tokens.length + padding, 0);
  const depth = nativeRows.reduce((sum, { position }) => sum + position, 0) / nativeRows.length;
  return { rows, depth };
}
