import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fail } from '../../lib/errors/svc-error.ts';
import { requireSpace } from '../../lib/files/disk-space.ts';
import {
  makeFolder,
  moveDurably,
  temporaryName,
  temporaryOwner,
  writeFailure,
} from '../../lib/files/durable.ts';
import { installedPackage } from '../../lib/files/native-library.ts';
import { type OwnerLock, takeLock } from '../lock/owner-lock.ts';
import { unpackWheel } from './wheel.ts';
import { downloadPackage, downloadPinned, type PackageSource } from './download.ts';
import {
  fullName,
  GPU_LIBRARIES,
  type GpuLibrary,
  type GpuLibraryKind,
  type GpuRuntime,
} from './packages.ts';
import { unpackTarball } from './tarball.ts';
import { rename } from '../../lib/files/busy.ts';

export interface LibraryInstall extends PackageSource {
  readonly folder: string;
  readonly library: GpuLibrary;
}

export function libraryFor(kind: GpuLibraryKind, platform: string): GpuLibrary {
  const library = GPU_LIBRARIES[`${platform}-${kind}`];
  if (library === undefined) throw fail('library_unsupported', { kind, platform, param: 'kind' });
  return library;
}

export async function installLibrary(install: LibraryInstall): Promise<boolean> {
  const { folder, library } = install;
  const target = installedPackage(folder, library.main.name);
  await makeFolder(folder);
  const lock = await lockFolder(folder, 'hearth gpu install');
  try {
    if (existsSync(target)) return false;
    await removeLeftovers(folder);
    const packages = [library.main, ...(library.extension === undefined ? [] : [library.extension])];
    const sizes = packages.map(({ downloadBytes, unpackedBytes }) => downloadBytes + unpackedBytes);
    await requireSpace(
      folder,
      sizes.reduce((sum, bytes) => sum + bytes, 0),
    );
    await unpackStaged(install, packages, target);
    return true;
  } finally {
    await lock.release();
  }
}

/** False if present already. The file that marks the runtime is written last. */
export async function installRuntime(
  install: PackageSource & Pick<LibraryInstall, 'folder' | 'library'>,
  { wheels, folder: below }: GpuRuntime,
): Promise<boolean> {
  const { folder, library, onEvent } = install;
  const bins = join(installedPackage(folder, library.main.name), 'bins', library.main.name, below);
  const lock = await lockFolder(folder, 'hearth gpu install');
  try {
    const files = wheels.flatMap(({ libraries }) => libraries);
    if (files.every((file) => existsSync(join(bins, basename(file))))) return false;
    await removeLeftovers(folder);
    await requireSpace(
      folder,
      wheels.reduce((sum, { downloadBytes, unpackedBytes }) => sum + downloadBytes + unpackedBytes, 0),
    );
    await staged(folder, async ({ stage, archive }) => {
      for (const wheel of wheels) {
        await downloadPinned(install, wheel, archive);
        onEvent({ status: 'unpacking', file: wheel.label });
        await unpackWheel(archive, stage, (path) => wheel.libraries.includes(path));
        await rm(archive);
      }
      for (const file of files) await moveDurably(join(stage, file), join(bins, basename(file)));
    });
    return true;
  } finally {
    await lock.release();
  }
}

/** A worker that has it open keeps it until it ends. */
export async function removeLibrary(folder: string, { main }: GpuLibrary): Promise<boolean> {
  const target = installedPackage(folder, main.name);
  if (!existsSync(target)) return false;
  const lock = await lockFolder(folder, 'hearth gpu remove');
  try {
    await removeWhole(target);
    return true;
  } finally {
    await lock.release();
  }
}

/** Renames it away first, so that nobody finds half of it. */
export async function removeWhole(target: string): Promise<void> {
  const away = join(dirname(target), temporaryName(basename(target)));
  await rename(target, away).catch((error: unknown) => {
    throw writeFailure(target, error);
  });
  await rm(away, { recursive: true, force: true });
}

async function unpackStaged(
  install: LibraryInstall,
  packages: readonly GpuLibrary['main'][],
  target: string,
): Promise<void> {
  const { folder, onEvent } = install;
  await staged(folder, async ({ stage, archive }) => {
    for (const wanted of packages) {
      await downloadPackage(install, wanted, archive);
      onEvent({ status: 'unpacking', file: fullName(wanted.name) });
      // Keeps the metadata of the first package; the second only adds libraries.
      await unpackTarball(archive, stage, wanted === packages[0] ? '' : 'bins');
      await rm(archive);
    }
    await moveDurably(stage, target);
  });
}

export async function staged(
  folder: string,
  work: (places: { readonly stage: string; readonly archive: string }) => Promise<void>,
): Promise<void> {
  const stage = join(folder, temporaryName('stage'));
  const archive = join(folder, temporaryName('archive'));
  try {
    await work({ stage, archive });
  } finally {
    await rm(archive, { force: true });
    await rm(stage, { recursive: true, force: true });
  }
}

export function lockFolder(folder: string, purpose: string): Promise<OwnerLock> {
  return takeLock(join(folder, 'install.lock'), { purpose, what: 'The folder of libraries', waitMs: 0 });
}

/** Removes folders of killed processes: under the lock, no other process uses one. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (temporaryOwner(name) !== null) await rm(join(folder, name), { recursive: true, force: true });
}
