/** Notes on how a request was understood; headers report them apart from the answer. */
import type { UnheldKeyword } from '../../contract/job-event.ts';
import type { Relaxation } from './relaxations.ts';
import type { Rewriting } from './volatile-lines.ts';

export interface RequestNotes {
  readonly ignored: readonly string[];
  /** Keywords of schemas that only the check of the finished answer enforces. */
  readonly relaxed?: readonly Relaxation[];
  /** The model that answers if the requested one is not installed, else null. */
  readonly substituted?: string | null;
  /** True if the model has no template and a stand-in renders the conversation. */
  readonly hasStandIn?: boolean;
  /** Lines of system prompts that did not stay where they were, and turns that were put in another way for the template. */
  readonly rewritten?: readonly Rewriting[];
}

/** `folds` as workers report them: `part=how`. */
export function withFolds(understood: RequestNotes, folds: readonly string[] = []): RequestNotes {
  if (folds.length === 0) return understood;
  const rewritten = folds.map((fold) => {
    const [name = '', how = ''] = fold.split('=');
    return { name, how };
  });
  return { ...understood, rewritten: [...(understood.rewritten ?? []), ...rewritten] };
}

/** Adds keywords that the model's own tool format leaves to the check; each is named once. */
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

/** Each once, as `name=how`. */
export function rewritingNames(rewritten: readonly Rewriting[] = []): string[] {
  return [...new Set(rewritten.map(({ name, how }) => `${name}=${how}`))];
}
