/** Reads the words after `hearth run`: a model and a prompt, or a question to the default model. */
interface Opened {
  readonly model: string;
  readonly prompt: string;
}

/** `default` names whichever model is the default. */
export const DEFAULT_MODEL = 'default';

/** True if a word may be a model id; only the service knows which exist. Upstreams name theirs `gpu/owner/model`. */
export function mayBeModel(word: string): boolean {
  return /^[\w.-]+(?:\/+[\w.-]+)*(?::[\w.-]+)?$/.test(word);
}

/**
 * 1. The first word names an installed model: that model gets the rest.
 * 2. The first word cannot be a model id, because of a space, a question mark or another sign: all words are a question
 *    to the default model.
 * 3. Otherwise it names a model that is not installed: undefined. Another model must not answer in its place.
 */
export function readOpening(
  words: readonly string[],
  { isInstalled }: { readonly isInstalled: boolean },
): Opened | undefined {
  const [first, ...others] = words;
  if (first === undefined) return { model: DEFAULT_MODEL, prompt: '' };
  if (isInstalled) return { model: first, prompt: others.join(' ') };
  return mayBeModel(first) ? undefined : { model: DEFAULT_MODEL, prompt: words.join(' ') };
}
