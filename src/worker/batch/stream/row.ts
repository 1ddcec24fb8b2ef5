import type { MediumRows } from '../../native.ts';

export interface Row {
  readonly sequence: number;
  readonly position: number;
  readonly tokens: Uint32Array;
  readonly logits: number;
  readonly sampled?: number;
  /** Number of last tokens that are drafts, which stay only if the sampler chooses the same. */
  readonly drafts?: number;
  /** Rows evaluated after the tokens and dropped at once; later rows never change earlier ones. */
  readonly padding?: number;
  /** Positions that images before it saved; default 0. */
  readonly spared?: number;
  readonly medium?: Omit<MediumRows, 'sequence'>;
}

/** Rows of a native call, padding included, and the mean number of tokens before a row. */
export function callShape(nativeRows: readonly Row[]): { rows: number; depth: number } {
  const rows = nativeRows.reduce((sum, { tokens, padding = 0 }) => sum + tokens.length + padding, 0);
  const depth = nativeRows.reduce((sum, { position }) => sum + position, 0) / nativeRows.length;
  return { rows, depth };
}
