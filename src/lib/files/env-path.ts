import { join } from 'node:path';

/** Users often paste paths with quotes. */
export function envPath(value: string | undefined, userHome: string): string | undefined {
  const bare = value
    ?.trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  if (!bare) return undefined;
  return bare === '~' || bare.startsWith('~/') ? join(userHome, bare.slice(1)) : bare;
}
