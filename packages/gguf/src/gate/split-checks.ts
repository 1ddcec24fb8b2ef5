/** Parts of a split model. llama.cpp finds the others by the file's own name, so name and header must agree. */
import { basename } from 'node:path';
import { LIMITS } from '../format/limits.ts';
import type { Lookup } from '../format/lookup.ts';

export interface SplitPart {
  readonly index: number;
  readonly count: number;
}

const PART_NAME = /^[^/\\]+-(\d{5})-of-(\d{5})\.gguf$/;

export function readSplit(path: string, lookup: Lookup): SplitPart | undefined {
  checkSplitTexts(lookup);
  const count = lookup.count('split.count', 0xffff) ?? 0;
  if (count <= 1) return undefined;
  if (count > LIMITS.splitParts)
    lookup.refuse(`it claims to have ${count} parts; at most ${LIMITS.splitParts} are accepted`);
  const index = lookup.count('split.no', 0xffff) ?? lookup.refuse('split.no is missing');
  if (index >= count) lookup.refuse(`it claims to be part ${index + 1} of ${count}`);
  const name = PART_NAME.exec(basename(path));
  if (!name) {
    lookup.refuse(
      `it is part ${index + 1} of ${count} but is not named like one (${partSuffix(index, count)})`,
    );
  }
  if (Number(name?.[1]) !== index + 1 || Number(name?.[2]) !== count)
    lookup.refuse(`its file name does not say that it is part ${index + 1} of ${count}`);

  return { index, count };
}

function partSuffix(index: number, count: number): string {
  const padded = (value: number): string => String(value).padStart(5, '0');
  return `…-${padded(index + 1)}-of-${padded(count)}.gguf`;
}

/** The format has only numbers under "split."; a text there could only be mistaken for a path. */
function checkSplitTexts(lookup: Lookup): void {
  for (const key of lookup.keys()) {
    if (key.startsWith('split.') && lookup.entry(key)?.type === 'string')
      lookup.refuse(`${key} is a string; the parts of a model are found by number only`);
  }
}
