/**
 * Installs libmtmd built against a library that came without it: copies it to the home folder and tries it. The
 * former one stays if it fails.
 */
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fail } from '../../lib/errors/svc-error.ts';
import { makeFolder, moveDurably, temporaryName } from '../../lib/files/durable.ts';
import {
  isMediaLibrary,
  type LibraryFiles,
  mediaFolder,
  PACKAGED,
  readSelection,
} from '../../lib/files/native-library.ts';
import { lockFolder, removeWhole } from './install.ts';

export interface MediaInstall {
  readonly libraries: string;
  readonly against: LibraryFiles;
  readonly from: string;
  /** True if a new worker can read images; rejects if no worker starts. */
  readonly tryOut: () => Promise<boolean>;
}

export async function installMedia({ libraries, against, from, tryOut }: MediaInstall): Promise<string> {
  const name = (await readdir(from)).find(isMediaLibrary);
  const refuse = (reason: string): Error => fail('own_library_refused', { folder: from, reason });
  if (name === undefined) throw refuse('the build made no libmtmd');
  const target = mediaFolder(libraries, mediaOwner(libraries, against));
  await makeFolder(dirname(target));
  const lock = await lockFolder(libraries, 'hearth library build');
  const stage = join(dirname(target), temporaryName('media'));
  const former = join(dirname(target), temporaryName('former'));
  try {
    await mkdir(stage, { recursive: true });
    await copyFile(join(from, name), join(stage, name));
    const hadOne = await exists(target);
    if (hadOne) await moveDurably(target, former);
    await moveDurably(stage, target);
    if (await tryOut().catch(() => false)) return join(target, name);
    await removeWhole(target);
    if (hadOne) await moveDurably(former, target);
  } finally {
    for (const folder of [stage, former]) await rm(folder, { recursive: true, force: true });
    await lock.release();
  }
  throw refuse('libmtmd cannot be loaded beside the library in use');
}

export const mediaOwner = (libraries: string, { isOwn }: LibraryFiles): string =>
  (isOwn ? readSelection(libraries).selected : null) ?? PACKAGED;

const exists = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    () => true,
    () => false,
  );
