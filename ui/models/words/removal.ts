/** What removing a model would do, in words. Pure. */
import { bytes } from '../../parts/figures.ts';
import type { LibraryModel } from '../models-state.ts';

/** The owner of models that ship with Hearth. */
const BUILT_IN = 'hearth';
const PULLED = 'hf:';

/** What is asked before a model is removed. `next`: if it is the default of its kind, the one after it; null: there is none. */
export function removalQuestion(
  model: LibraryModel,
  models: readonly LibraryModel[],
  next: string | null | undefined,
): string {
  const { id, kind } = model;
  const isLast = kind === 'chat' && !models.some((each) => each.id !== id && each.kind === kind);
  return [
    isLast ? 'This is the only chat model.' : '',
    fileWords(model),
    next === undefined || isLast ? '' : `${next ?? 'No model'} becomes the default.`,
    'Remove it?',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** The service does not tell whether a file from this machine was copied, so both are said. */
function fileWords({ owned_by: owner, size_bytes: size }: LibraryModel): string {
  if (owner === BUILT_IN) return 'It ships with Hearth: a button here brings it back.';
  const amount = size === undefined ? '' : ` (${bytes(size)})`;
  return owner.startsWith(PULLED)
    ? `Its downloaded file${amount} is deleted.`
    : `A file used in place stays where it is; if it was copied when it was installed, the copy${amount} is deleted.`;
}
