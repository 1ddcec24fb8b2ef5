import type { Stats } from 'node:fs';
import { readdir, stat, utimes } from 'node:fs/promises';
import path from 'node:path';

export const cacheFolder = (home: string): string => path.join(home, 'cache');

/**
 * Modification time that marks a pinned prefix: the mark outlives the process, every model sees it, and no other file
 * has so late a time. Before 2038, the limit of some file systems.
 */
export const PINNED_MS = Date.UTC(2037, 0, 1);

interface CachedKind {
  readonly name: string;
  readonly path: string;
  readonly files: readonly CachedFile[];
}

export interface CachedFile {
  readonly path: string;
  readonly bytes: number;
  /** For evictions; in the future for a pinned file. */
  readonly usedMs: number;
  /** For display. Each use of a pinned file rewrites its mark, which changes the time of the inode. */
  readonly lastUsedMs: number;
  readonly isPinned: boolean;
}

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

export async function release(files: readonly CachedFile[]): Promise<void> {
  const now = new Date();
  for (const file of files) if (file.isPinned) await utimes(file.path, now, now).catch(() => undefined);
}

async function cachedFile(file: string): Promise<CachedFile | null> {
  const found = await stat(file).catch(() => null);
  return found?.isFile() === true ? described(file, found) : null;
}

const described = (file: string, { size, mtimeMs, ctimeMs }: Stats): CachedFile => {
  const isPinned = mtimeMs === PINNED_MS;
  return { path: file, bytes: size, usedMs: mtimeMs, lastUsedMs: isPinned ? ctimeMs : mtimeMs, isPinned };
};
