/**
 * Which native files a worker binds, found and hashed without loading any of them: the prebuilt folder of
 * node-llama-cpp, one package per platform and GPU kind.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findChange, type FolderHash, hashFolder } from './folder-hash.ts';

const ADDON_FILE = 'llama-addon.node';
const METADATA_FILE = '_nlcBuildMetadata.json';

/** `false` is the CPU build; a name is the GPU kind of the library's own vocabulary. */
export type GpuKind = false | 'cuda' | 'vulkan' | 'metal';

/** The folder that a worker binds for a GPU kind on this machine, or null when it is not installed. */
export function findPrebuiltFolder(gpu: GpuKind = defaultGpu()): string | null {
  const name = packageName(gpu);
  const root = packageFolder(name);
  if (root === null) return null;
  const bins = join(root, 'bins');
  if (!existsSync(bins)) return null;
  const exact = join(bins, name);
  if (existsSync(join(exact, ADDON_FILE))) return exact;
  const other = readdirSync(bins).find((folder) => existsSync(join(bins, folder, ADDON_FILE)));
  return other === undefined ? null : join(bins, other);
}

/** Every folder that a worker may bind on this machine, whatever the GPU setting is. */
export const prebuiltFolders = (): string[] =>
  ([false, 'metal', 'vulkan', 'cuda'] as const).flatMap((gpu) => findPrebuiltFolder(gpu) ?? []);

/** Metal is the only build for Apple silicon; everywhere else the CPU build is the one that always runs. */
export const defaultGpu = (): GpuKind =>
  process.platform === 'darwin' && process.arch === 'arm64' ? 'metal' : false;

function packageName(gpu: GpuKind): string {
  const platform = process.platform === 'darwin' ? 'mac' : process.platform === 'win32' ? 'win' : 'linux';
  const arch = process.arch === 'arm' ? 'armv7l' : process.arch;
  return gpu === false ? `${platform}-${arch}` : `${platform}-${arch}-${gpu}`;
}

/** The package is looked up from node-llama-cpp's own place, as the library itself does. */
function packageFolder(name: string): string | null {
  try {
    const library = createRequire(import.meta.url).resolve('node-llama-cpp');
    const main = createRequire(library).resolve(`@node-llama-cpp/${name}`);
    return dirname(dirname(main));
  } catch {
    // Not installed on this platform: an ordinary answer, which the caller turns into native_ready: false.
    return null;
  }
}

/** The hash behind `backend_sha256`; null when the folder is missing or holds no addon. */
export async function hashBackend(folder: string | null): Promise<FolderHash | null> {
  if (folder === null || !existsSync(join(folder, ADDON_FILE))) return null;
  return hashFolder(folder);
}

/** What the build metadata of a prebuilt folder says, and its hash; the release is `unknown` without one. */
export function readBuildMetadata(hash: FolderHash): {
  llamaRelease: string;
  buildMetadataSha256: string | null;
} {
  const file = hash.files.find(({ name }) => name === METADATA_FILE);
  if (file === undefined) return { llamaRelease: 'unknown', buildMetadataSha256: null };
  const metadata: unknown = JSON.parse(readFileSync(join(hash.folder, METADATA_FILE), 'utf8'));
  const release = pick(pick(pick(metadata, 'buildOptions'), 'llamaCpp'), 'release');
  return {
    llamaRelease: typeof release === 'string' ? release.slice(0, 128) : 'unknown',
    buildMetadataSha256: file.sha256,
  };
}

const pick = (value: unknown, member: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, member) : undefined;

/** Says whether a worker may bind these bytes in this boot. */
export interface BackendGuard {
  /** The hash of the bytes of this boot, or null when no backend was found. */
  readonly hash: FolderHash | null;
  /** Null when a worker may be started; otherwise the reason why not. Call it before every start. */
  check(): Promise<string | null>;
}

/**
 * Pins the bytes of this boot. `extra` are further folders that a worker loads from, the built server above all:
 * a file swapped after boot changes nothing that runs, and the next bind is refused until a restart.
 */
export function createBackendGuard(hash: FolderHash | null, ...extra: readonly FolderHash[]): BackendGuard {
  return {
    hash,
    check: async () => {
      if (hash === null) return 'no native backend is installed for this platform';
      for (const folder of [hash, ...extra]) {
        const change = await findChange(folder);
        if (change !== null) return `${change}; restart the service to bind the new files`;
      }
      return null;
    },
  };
}
