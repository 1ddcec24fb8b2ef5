/**
 * Where llama.cpp's prebuilt libraries lie: one package per platform and GPU kind, which npm or `hearth gpu install` put
 * there. The child binds them, and the server hashes the same folder.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The libraries of one folder of prebuilt files, by what they are. */
export interface LibraryFiles {
  readonly folder: string;
  readonly llama: string;
  readonly ggml: string;
  readonly base: string;
}

/** A GPU kind names a package; `cpu` is the one without. */
export type PackageKind = (typeof PACKAGE_KINDS)[number];

export const PACKAGE_KINDS = ['cpu', 'metal', 'vulkan', 'cuda'] as const;

const LIBRARIES = {
  llama: /^(?:lib)?llama(?:\.\w+)?\.v[\d.]+\.(?:so|dylib|dll)$/,
  ggml: /^(?:lib)?ggml(?:\.\w+)?\.v[\d.]+\.(?:so|dylib|dll)$/,
  base: /^(?:lib)?ggml-base\.(?:so|dylib|dll)$/,
} as const;

/** The version of every package: all are built from the one llama.cpp whose functions Hearth calls. */
export const PACKAGE_VERSION = '3.22.1';

/** Where `hearth gpu install` puts packages. */
export const librariesFolder = (home: string): string => path.join(home, 'libraries');

/** One package in the folder of libraries. */
export const installedPackage = (libraries: string, name: string): string =>
  path.join(libraries, `${name}@${PACKAGE_VERSION}`);

/** Null when no such package is installed, or it lacks a library; `libraries` is looked into first. */
export function findLibraries(kind: PackageKind, libraries: string | null): LibraryFiles | null {
  for (const root of packageRoots(packageName(kind), libraries)) {
    const bins = path.join(root, 'bins');
    if (!existsSync(bins)) continue;
    for (const name of readdirSync(bins)) {
      const found = librariesIn(path.join(bins, name));
      if (found !== null) return found;
    }
  }
  return null;
}

/** Null when one of them is missing. */
export function librariesIn(folder: string): LibraryFiles | null {
  if (!existsSync(folder)) return null;
  const names = readdirSync(folder);
  const find = (pattern: RegExp): string | undefined => names.find((name) => pattern.test(name));
  const [llama, ggml, base] = [find(LIBRARIES.llama), find(LIBRARIES.ggml), find(LIBRARIES.base)];
  if (llama === undefined || ggml === undefined || base === undefined) return null;
  return {
    folder,
    llama: path.join(folder, llama),
    ggml: path.join(folder, ggml),
    base: path.join(folder, base),
  };
}

/** Without its scope, for this machine. */
export function packageName(kind: PackageKind): string {
  const platform = process.platform === 'darwin' ? 'mac' : process.platform === 'win32' ? 'win' : 'linux';
  const arch = process.arch === 'arm' ? 'armv7l' : process.arch;
  return kind === 'cpu' ? `${platform}-${arch}` : `${platform}-${arch}-${kind}`;
}

function packageRoots(name: string, libraries: string | null): string[] {
  const require = createRequire(import.meta.url);
  const places = (require.resolve.paths(name) ?? []).map((folder) =>
    path.join(folder, '@node-llama-cpp', name),
  );
  if (libraries !== null) places.unshift(installedPackage(libraries, name));
  // The kernel names mapped files by their real paths.
  return places.filter((root) => existsSync(root)).map((root) => realpathSync(root));
}
