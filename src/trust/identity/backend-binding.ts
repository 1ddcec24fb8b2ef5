/**
 * The value of `backend_sha256` during the life of a process. At boot the folder that workers will bind is predicted
 * from the GPU setting and hashed; once a worker reports the folder that it bound, that one counts. Each folder is
 * hashed once per boot.
 */
import type { PackageKind } from '../../lib/files/native-library.ts';
import {
  type BindRefusal,
  createBackendGuard,
  defaultKind,
  findBoundFolder,
  hashBackend,
} from './backend.ts';
import type { FolderHash } from './folder-hash.ts';

export interface BackendBinding {
  hash(): Promise<FolderHash | null>;
  knownSha256(): string | null;
  /** Before the hash is known, the folder's presence counts. Never waits. */
  isBound(): boolean;
  /** Null when a worker may start; otherwise why not. */
  refusal(): Promise<BindRefusal | null>;
}

export function createBackendBinding(options: {
  /** The setting: `auto`, `off`, or a GPU kind. */
  readonly gpu: string;
  readonly libraries: string;
  /** Hashed before the backend; a worker loads its own script from there. */
  readonly serverSource: Promise<FolderHash>;
  readonly reportedFolder: () => string | null;
}): BackendBinding {
  const predicted = findBoundFolder(readPackageKind(options.gpu), options.libraries);
  const hashes = new Map<string, Promise<FolderHash | null>>();
  const settled = new Map<string, string | null>();
  const hashOnce = (folder: string): Promise<FolderHash | null> => {
    const known = hashes.get(folder);
    if (known !== undefined) return known;
    // An unreadable folder is not a backend; the worker's own failure explains more.
    const hash = hashBackend(folder).catch(() => null);
    hashes.set(folder, hash);
    void hash.then((value) => settled.set(folder, value?.sha256 ?? null));
    return hash;
  };
  const folder = (): string | null => options.reportedFolder() ?? predicted;
  const hashPredicted = (): void => {
    if (predicted !== null) void hashOnce(predicted);
  };
  // Its failure reaches the awaiting caller; until then it must not count as unhandled.
  options.serverSource.then(hashPredicted, hashPredicted);

  return {
    hash: async () => {
      const bound = folder();
      return bound === null ? null : hashOnce(bound);
    },
    knownSha256: () => settled.get(folder() ?? '') ?? null,
    isBound: () => {
      const bound = folder();
      return bound !== null && settled.get(bound) !== null;
    },
    refusal: async () => {
      const server = await options.serverSource;
      hashPredicted();
      const all = await Promise.all(hashes.values());
      const [first, ...others] = all.filter((hash) => hash !== null);
      const guard = createBackendGuard(first ?? null, ...others, server);
      return guard.check();
    },
  };
}

function readPackageKind(setting: string): PackageKind {
  if (setting === 'cuda' || setting === 'vulkan' || setting === 'metal') return setting;
  return defaultKind();
}
