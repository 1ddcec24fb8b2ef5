/** What the words behind `hearth run` mean: a model and a prompt, or a question to the default model. */
interface Opened {
  readonly model: string;
  readonly prompt: string;
  /** The first word may have been meant as a model. */
  readonly mayMeanModel?: true;
}

/** `default` names whichever model is the default. */
export const DEFAULT_MODEL = 'default';

/** Whether the first word names a model can only be said by the service; upstreams name theirs `gpu/owner/model`. */
export function mayBeModel(word: string): boolean {
  return /^[\w.-]+(?:\/+[\w.-]+)*(?::[\w.-]+)?$/.test(word);
}

/**
 * 1. The first word names an installed model: that model is asked the rest.
 * 2. It cannot be a model id, because of a space, a question mark or another sign: all words ask the default model.
 * 3. It is a plain word like any other in front of further plain words, and no installed model resembles it: the same.
 *    A quoted question behind it shows that a model was meant.
 * 4. Otherwise it is a model that is not installed, which is undefined here.
 */
export function openingOf(
  words: readonly string[],
  { isInstalled, resembles }: { readonly isInstalled: boolean; readonly resembles: boolean },
): Opened | undefined {
  const [first, ...others] = words;
  if (first === undefined) return { model: DEFAULT_MODEL, prompt: '' };
  if (isInstalled) return { model: first, prompt: others.join(' ') };
  const isPlainWord =
    /^\p{L}+$/u.test(first) && others.length > 0 && !resembles && !others.some((word) => /\s/.test(word));
  const question = { model: DEFAULT_MODEL, prompt: words.join(' ') };
  if (!mayBeModel(first)) return question;
  return isPlainWord ? { ...question, mayMeanModel: true } : undefined;
}
