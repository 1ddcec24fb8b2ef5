/** The models that ship with Hearth, by what they serve. A remedy names them, so that one that was removed is found again. */
export const BUILTIN_IDS = { chat: 'hearth-mini', embedding: 'hearth-embed' } as const;

/** The id of the built-in model that a name means; null for any other name. */
export function builtinNamed(name: string): string | null {
  const bare = name.toLowerCase().replace(/:latest$/, '');
  return Object.values(BUILTIN_IDS).find((id) => id === bare) ?? null;
}
