import { readFileSync } from 'node:fs';

/** The version of package.json, which is also Identity.version. */
export function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
