/**
 * Further conditions of a state, beyond those that the server knows before a load. State does not depend on the size of
 * the window or on how many slots share it, with two exceptions: models whose rotation of positions changes beyond a
 * window, and whole states, in which llama.cpp writes how many streams the context had. Pure.
 */
import { kindName } from '../../../lib/prompt-cache/kind.ts';

export interface StateForm {
  /** Window of one sequence, tokens. */
  readonly numCtx: number;
  /** The window above which the model rotates positions in another way; null: never. */
  readonly ropeCtx: number | null;
  readonly streams: number;
  /** State is kept in rows, not whole. */
  readonly cuttable: boolean;
  /** Of an exact load, which takes no state that was computed otherwise. */
  readonly exact?: boolean;
}

/** `kind` itself if nothing has to be distinguished. */
export function stateKind(kind: string, { numCtx, ropeCtx, streams, cuttable, exact }: StateForm): string {
  const parts = [
    ...(ropeCtx !== null && numCtx > ropeCtx ? ['long'] : []),
    ...(exact === true ? ['exact 1'] : []),
    ...(cuttable || streams === 1 ? [] : [`streams ${streams}`]),
  ];
  if (parts.length === 0) return kind;
  return kindName(kind, [kind, ...parts]);
}
