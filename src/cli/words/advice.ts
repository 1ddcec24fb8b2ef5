/** What helps where a model is not there. */
import { didYouMean, nearest } from '../../lib/base/nearest.ts';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { isBuiltin } from '../builtin-models.ts';

/** Behind a failure, what helps: a built-in model comes back, or the names that resemble the one given. */
export async function adviceFor(
  error: unknown,
  installed: () => Promise<readonly string[]>,
): Promise<string> {
  const name = isFailure(error, 'model_not_found')
    ? error.detail.model
    : isFailure(error, 'file_not_found')
      ? lastPart(error.detail.path)
      : isFailure(error, 'reference_invalid')
        ? error.detail.ref
        : null;
  if (name === null) return '';
  if (isBuiltin(name)) return restoreAdvice(name);
  return isFailure(error, 'model_not_found') ? didYouMean(nearest(name, await installed())) : '';
}

export function restoreAdvice(name: string): string {
  const id = name.toLowerCase();
  return ` ${id} ships with Hearth; bring it back with: hearth restore ${id}`;
}

/** A path is made complete before it is looked at; the name is what was typed. */
const lastPart = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;
