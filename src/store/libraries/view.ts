/**
 * A temporary folder of links that shows the libraries as if another build were selected; nothing is copied or
 * changed.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { temporaryOwner } from '../../lib/files/durable.ts';
import { buildFolder, buildsFolder, selectionFile } from '../../lib/files/native-library.ts';

/** `name`: null is the package. A killed process leaves a few links in the temporary folder. */
export async function withSelected<T>(
  libraries: string,
  name: string | null,
  use: (view: string) => Promise<T>,
): Promise<T> {
  const view = await mkdtemp(join(tmpdir(), 'hearth-libraries-'));
  try {
    await mkdir(buildsFolder(view));
    const builds = basename(buildsFolder(libraries));
    const entries = existsSync(libraries) ? await readdir(libraries, { withFileTypes: true }) : [];
    const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== builds);
    for (const { name: folder } of folders)
      if (temporaryOwner(folder) === null) await symlink(join(libraries, folder), join(view, folder), LINK);
    if (name !== null) {
      await symlink(buildFolder(libraries, name), buildFolder(view, name), LINK);
      await writeFile(selectionFile(view), `${JSON.stringify({ selected: name, before: null })}\n`);
    }
    return await use(view);
  } finally {
    await rm(view, { recursive: true, force: true });
  }
}

const LINK = 'junction';
