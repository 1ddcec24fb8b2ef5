import { didYouMean, nearest } from '../../lib/base/nearest.ts';
import { builtinNamed } from '../../lib/errors/builtin-ids.ts';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { KNOWN_NAMES, knownName } from '../../store/hub/choose/known-names.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export async function adviceFor(
  error: unknown,
  installed: () => Promise<readonly string[]>,
  env: Environment = {},
): Promise<string> {
  if (isFailure(error, 'hub_unreachable')) return proxyAdvice(env);
  if (isFailure(error, 'file_not_found')) return restoreAdvice(lastPart(error.detail.path));
  if (isFailure(error, 'reference_invalid'))
    return restoreAdvice(error.detail.ref) || pullAdvice(error.detail.ref);
  // The sentence about a built-in model already says how to restore it.
  if (!isFailure(error, 'model_not_found') || builtinNamed(error.detail.model) !== null) return '';
  return didYouMean(nearest(error.detail.model, await installed())) || knownNameAdvice(error.detail.model);
}

function restoreAdvice(name: string): string {
  const id = builtinNamed(name);
  return id === null ? '' : ` ${id} ships with Hearth; install it with: hearth restore ${id}`;
}

function pullAdvice(name: string): string {
  if (!/^[\w.-]+(?::[\w.-]+)?$/.test(name)) return '';
  return knownNameAdvice(name) || ` Look for one with: hearth search ${name.replace(':', ' ')}`;
}

export function knownNameAdvice(name: string): string {
  const known = knownName(name);
  if (known === null) return resembledAdvice(name);
  const { reference, tags } = known;
  const [bare = ''] = name.split(':');
  if (reference === null)
    return ` Of "${bare}", ${tags.join(', ')} are known here, such as ${bare}:${tags[0]}; look for others with: hearth search ${name.replace(':', ' ')}`;
  const [repository] = reference.split(':');
  return ` "${name}" is a name of Ollama's library; a GGUF of it: hearth pull ${reference} (hearth fit ${repository} lists its quants).`;
}

function resembledAdvice(name: string): string {
  const [close] = nearest(name.split(':')[0] ?? '', KNOWN_NAMES);
  const reference = close === undefined ? null : knownName(close)?.reference;
  if (close === undefined || reference === null || reference === undefined) return '';
  return ` It resembles "${close}", a name of Ollama's library; a GGUF of that: hearth pull ${reference}. Look for others with: hearth search ${name.replace(':', ' ')}`;
}

/** Redirects must lead to public addresses, but a proxy would resolve names in our place. */
function proxyAdvice(env: Environment): string {
  const name = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].find((each) => env[each]);
  return name === undefined
    ? ''
    : ` ${name} is set, but models are fetched without a proxy; fetch the file yourself and run: hearth import FILE`;
}

/** The error has the absolute path; the name that the user typed is its last part. */
const lastPart = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;
