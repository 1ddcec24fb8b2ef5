/**
 * Damaged and hostile variants of the tiny chat model, each by name: the mutations that a
 * GGUF reader must survive. All but those marked `passesGate` can be recognised from the
 * header and the file's size. Used by the fault tests; nothing here is served.
 */
import { brokenMeaning } from './broken-meaning.ts';
import { brokenStructure } from './broken-structure.ts';

export interface BrokenGguf {
  /** Number of the mutation in the security notes; several variants share one. */
  readonly mutation: number;
  readonly name: string;
  readonly bytes: () => Buffer;
  /** The damage is in the weights, so that only a trial load can find it. */
  readonly passesGate?: true;
}

export function brokenGgufs(): readonly BrokenGguf[] {
  return [...brokenStructure(), ...brokenMeaning()];
}
