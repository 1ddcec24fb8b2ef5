/** What removing a model would do, in words. Pure. */
import { bytes } from '../../parts/figures.ts';
import { isBaseModel } from './base-model.ts';
import type { LibraryModel } from '../models-state.ts';

/** The owner of models that ship with Hearth. */
const BUILT_IN = 'hearth';
const PULLED = 'hf:';

/** What is asked before a model is removed. `defaultId`: the default model of its kind. */
export function removalQuestion(
  model: LibraryModel,
  models: readonly LibraryModel[],
  defaultId: string | null,
): string {
  const { id, kind } = model;
  const others = models.filter((each) => each.id !== id && each.kind === kind);
  const isLast = kind === 'chat' && others.length === 0;
  return [
    isLast ? 'This is the only chat model.' : '',
    fileWords(model),
    defaultId === id && others.length > 0 ? `${nextDefault(others)} becomes the default.` : '',
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

/** As the service chooses: the newest model of the user, then the newest built-in one, then the newest base model. */
function nextDefault(models: readonly LibraryModel[]): string {
  const rank = (model: LibraryModel): number =>
    isBaseModel(model) ? 0 : model.owned_by === BUILT_IN ? 1 : 2;
  const [next] = models.toSorted((a, b) => rank(b) - rank(a) || (b.created ?? 0) - (a.created ?? 0));
  return next?.id ?? '';
}
