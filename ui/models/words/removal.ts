/** What removing a model would do, in words. Pure. */
import { bytes } from '../../parts/figures.ts';
import type { LibraryModel } from './base-model.ts';

const BUILT_IN = 'hearth';

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

function fileWords({ owned_by: owner, frees_bytes: freed }: LibraryModel): string {
  if (owner === BUILT_IN) return 'It ships with Hearth: a button here brings it back.';
  return freed > 0 ? `This deletes ${bytes(freed)} from the disk.` : 'Its file is not deleted.';
}
