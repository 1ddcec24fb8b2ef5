import type { UnheldKeyword } from '../../../contract/job-event.ts';
import type { Relaxation } from './relaxations.ts';
import type { Rewriting } from './volatile-lines.ts';

export interface RequestNotes {
  readonly ignored: readonly string[];
  readonly relaxed?: readonly Relaxation[];
  /** The model that answers for one that is not installed; null: the requested one. */
  readonly substituted?: string | null;
  readonly hasStandIn?: boolean;
  /** Moved or dropped lines of system prompts, and turns that were changed for the template. */
  readonly rewritten?: readonly Rewriting[];
}

/** `folds` are `part=how`, as workers report them. */
export function withFolds(understood: RequestNotes, folds: readonly string[] = []): RequestNotes {
  if (folds.length === 0) return understood;
  const rewritten = folds.map((fold) => {
    const [name = '', how = ''] = fold.split('=');
    return { name, how };
  });
  return { ...understood, rewritten: [...(understood.rewritten ?? []), ...rewritten] };
}

export function withUnheld(understood: RequestNotes, unheld: readonly UnheldKeyword[] = []): RequestNotes {
  const { relaxed = [] } = understood;
  const isNamed = (each: UnheldKeyword): boolean =>
    relaxed.some(
      ({ tool, pointer, keyword, narrowed }) =>
        tool === each.tool && pointer === each.pointer && keyword === each.keyword && narrowed !== true,
    );
  const further = unheld.filter((each) => !isNamed(each));
  return further.length === 0 ? understood : { ...understood, relaxed: [...relaxed, ...further] };
}

export function rewritingNames(rewritten: readonly Rewriting[] = []): string[] {
  return [...new Set(rewritten.map(({ name, how }) => `${name}=${how}`))];
}
