import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BUILD_FACTS,
  findLibraries,
  isTestedRelease,
  librariesIn,
  ownLibrary,
  PACKAGE_KINDS,
  type PackageKind,
  readBuildFacts,
} from '../../lib/files/native-library.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import { findChange, type FolderHash, hashFolder } from './folder-hash.ts';

const METADATA_FILE = '_nlcBuildMetadata.json';

export function findBoundFolder(kind: PackageKind, libraries: string | null): string | null {
  return (ownLibrary(libraries) ?? findLibraries(kind, libraries))?.folder ?? null;
}

export const prebuiltFolders = (libraries: string): string[] =>
  PACKAGE_KINDS.flatMap((kind) => findLibraries(kind, libraries)?.folder ?? []);

export interface RecordedBackend {
  readonly sha256: string | null;
  /** Null: a worker must not use a build of the user's own. */
  readonly libraries: string | null;
}

/** The user's own build if it has the recorded hash, otherwise the CPU package. */
export async function findRecorded(recorded: string, libraries: string): Promise<RecordedBackend> {
  const own = await hashBackend(ownLibrary(libraries)?.folder ?? null);
  if (own?.sha256 === recorded) return { sha256: recorded, libraries };
  const prebuilt = await hashBackend(findBoundFolder(defaultKind(), null));
  return { sha256: prebuilt?.sha256 ?? null, libraries: null };
}

/** Metal is the only build for Apple silicon; on every other platform the CPU build always runs. */
export const defaultKind = (): PackageKind =>
  process.platform === 'darwin' && process.arch === 'arm64' ? 'metal' : 'cpu';

export async function hashBackend(folder: string | null): Promise<FolderHash | null> {
  if (folder === null || librariesIn(folder) === null) return null;
  return hashFolder(folder);
}

export function readBuildMetadata(hash: FolderHash): {
  llamaRelease: string;
  buildMetadataSha256: string | null;
} {
  const named = (wanted: string) => hash.files.find(({ name }) => name === wanted);
  const own = named(BUILD_FACTS);
  if (own !== undefined) return { llamaRelease: ownRelease(hash.folder), buildMetadataSha256: own.sha256 };
  const file = named(METADATA_FILE);
  if (file === undefined) return { llamaRelease: 'unknown', buildMetadataSha256: null };
  const metadata: unknown = JSON.parse(readFileSync(join(hash.folder, METADATA_FILE), 'utf8'));
  const release = pick(pick(pick(metadata, 'buildOptions'), 'llamaCpp'), 'release');
  return {
    llamaRelease: typeof release === 'string' ? release.slice(0, 128) : 'unknown',
    buildMetadataSha256: file.sha256,
  };
}

function ownRelease(folder: string): string {
  const release = readBuildFacts(folder)?.release ?? 'unknown';
  return isTestedRelease(release) ? release : `${release} (untested by Hearth)`;
}

const pick = (value: unknown, member: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, member) : undefined;

export type BindRefusal = SvcError<'native_unavailable' | 'files_changed'>;

export interface BackendGuard {
  readonly hash: FolderHash | null;
  /** Null when a worker may start; otherwise why not. Call it before every start. */
  check(): Promise<BindRefusal | null>;
}

/**
 * Pins the bytes of this boot. `extra`: further folders that a worker loads from, in particular the built server. A
 * file swapped after boot changes nothing that runs, and the next bind is refused until a restart.
 */
export function createBackendGuard(hash: FolderHash | null, ...extra: readonly FolderHash[]): BackendGuard {
  return {
    hash,
    check: async () => {
      if (hash === null) {
        return fail('native_unavailable', {
          reason: 'none is installed for this platform (npm ci installs it)',
        });
      }
      for (const folder of [hash, ...extra]) {
        const change = await findChange(folder);
        if (change !== null) return fail('files_changed', { reason: change });
      }
      return null;
    },
  };
}
