/**
 * Damaged and hostile variants of the tiny chat model, each by name: the mutations that a
 * GGUF reader must survive. All but those marked `passesGate` can be recognised from the
 * header and the file's size. Used by the fault tests; nothing here is served.
 */
import type { BrokenGguf } from './broken-gguf.ts';
import { brokenMeaning } from './broken-meaning.ts';
import { brokenStructure } from './broken-structure.ts';

export function brokenGgufs(): readonly BrokenGguf[] {
  return [...brokenStructure(), ...brokenMeaning()];
}
