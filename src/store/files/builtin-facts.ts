/** Facts about the models that ship, keyed by the SHA-256 of their files, so that no other file gets them. */
import { BUILTIN_IDS } from '../../lib/errors/builtin-ids.ts';

export interface BuiltinFacts {
  readonly id: string;
  readonly sha256: string;
  readonly limits: string;
}

export const BUILTIN_FACTS: readonly BuiltinFacts[] = [
  {
    id: BUILTIN_IDS.chat,
    sha256: '864fceb1a73dda10fff85b61d21c95db8d6ff76199ee4521418a46fb50972f2f',
    limits: 'knows only Hearth; cannot calculate, sort, or find an address in a text',
  },
  {
    id: BUILTIN_IDS.embedding,
    sha256: '5c8a8507cf34c536e5061b3ebb426e7fa4a25a2a9a6a081e60316d42a02e6cd6',
    limits: 'English only; pays little heed to negation and to who did what to whom',
  },
];

export function builtinLimits(digest: string | null | undefined): string | undefined {
  return BUILTIN_FACTS.find(({ sha256 }) => digest === sha256 || digest === `sha256:${sha256}`)?.limits;
}
