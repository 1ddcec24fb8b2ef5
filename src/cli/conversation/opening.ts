interface Opened {
  readonly model: string;
  readonly prompt: string;
}

export const DEFAULT_MODEL = 'default';

/** Only the service knows which ids exist. Upstreams name theirs `gpu/owner/model`. */
export function mayBeModel(word: string): boolean {
  return /^[\w.-]+(?:\/+[\w.-]+)*(?::[\w.-]+)?$/.test(word);
}

/**
 * 1. The first word names an installed model: it gets the rest. 2. The first word cannot be a model id, because of a
 * space, a question mark or another sign: all words are a question to the default model. 3. Otherwise it names a
 * model that is not installed: undefined, because another model must not answer in its place.
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
