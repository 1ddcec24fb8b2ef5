export const BUILTIN_IDS = { chat: 'hearth-mini', embedding: 'hearth-embed' } as const;

export function builtinNamed(name: string): string | null {
  const bare = name.toLowerCase().replace(/:latest$/, '');
  return Object.values(BUILTIN_IDS).find((id) => id === bare) ?? null;
}
