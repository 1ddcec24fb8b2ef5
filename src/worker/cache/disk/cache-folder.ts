/** The folder of all cached state, whatever model it is of: how much lies there, and which of the others' files is oldest. */
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

export interface OtherFile {
  readonly path: string;
  readonly bytes: number;
  readonly usedMs: number;
}

/** Files of all kinds of state but one, the one that was used longest ago first. */
export async function othersFiles(cacheFolder: string, own: string): Promise<OtherFile[]> {
  const kinds = await readdir(cacheFolder, { withFileTypes: true }).catch(() => []);
  const files: OtherFile[] = [];
  for (const kind of kinds) {
    const folder = path.join(cacheFolder, kind.name);
    if (!kind.isDirectory() || folder === own) continue;
    for (const name of await readdir(folder).catch(() => [])) {
      const file = path.join(folder, name);
      const found = await stat(file).catch(() => null);
      if (found?.isFile() === true) files.push({ path: file, bytes: found.size, usedMs: found.mtimeMs });
    }
  }
  return files.sort((a, b) => a.usedMs - b.usedMs);
}

export async function removeFile(file: OtherFile): Promise<void> {
  await rm(file.path, { force: true }).catch(() => undefined);
}
