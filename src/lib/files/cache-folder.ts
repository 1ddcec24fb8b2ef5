/** The folder of prompt state below a home: a folder for each kind of state, files in it, and nothing else. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

export const cacheFolder = (home: string): string => path.join(home, 'cache');

export interface CachedKind {
  readonly name: string;
  readonly path: string;
  readonly files: readonly CachedFile[];
}

export interface CachedFile {
  readonly path: string;
  readonly bytes: number;
  readonly usedMs: number;
}

/** Empty where there is no such folder; files that vanish meanwhile are left out. */
export async function cachedKinds(folder: string): Promise<CachedKind[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const kinds: CachedKind[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const kind = path.join(folder, entry.name);
    const names = await readdir(kind).catch(() => []);
    const files = await Promise.all(names.map((name) => cachedFile(path.join(kind, name))));
    kinds.push({ name: entry.name, path: kind, files: files.filter((file) => file !== null) });
  }
  return kinds;
}

async function cachedFile(file: string): Promise<CachedFile | null> {
  const found = await stat(file).catch(() => null);
  return found?.isFile() === true ? { path: file, bytes: found.size, usedMs: found.mtimeMs } : null;
}
