/**
 * Where llama.cpp's libraries lie: one prebuilt package per platform and GPU kind, which npm or `hearth gpu install` put
 * there, or the user's own build, which `hearth library use` copied. The child binds them, and the server hashes the
 * same folder.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The libraries of one folder, by what they are. */
export interface LibraryFiles {
  readonly folder: string;
  readonly llama: string;
  readonly ggml: string;
  readonly base: string;
  /** A build of the user's, by the names of its files. */
  readonly isOwn: boolean;
  /** Compute libraries that ggml itself may need, and so are loaded before it; in packages it looks for them later. */
  readonly compute: readonly string[];
}

/** A GPU kind names a package; `cpu` is the one without. */
export type PackageKind = (typeof PACKAGE_KINDS)[number];

export const PACKAGE_KINDS = ['cpu', 'metal', 'vulkan', 'cuda'] as const;

const LIBRARIES = {
  llama: /^(?:lib)?llama(?:\.\w+)?\.v[\d.]+\.(?:so|dylib|dll)$/,
  ggml: /^(?:lib)?ggml(?:\.\w+)?\.v[\d.]+\.(?:so|dylib|dll)$/,
  base: /^(?:lib)?ggml-base\.(?:so|dylib|dll)$/,
} as const;

/** As llama.cpp's own build names them. */
const BUILT = {
  llama: /^(?:lib)?llama\.(?:so|dylib|dll)$/,
  ggml: /^(?:lib)?ggml\.(?:so|dylib|dll)$/,
  base: LIBRARIES.base,
} as const;
const COMPUTE = /^(?:lib)?ggml-(?!base\.)[\w.-]+\.(?:so|dylib|dll)$/;
/** A build with a library for each sort of processor picks one itself. */
const GENERIC_CPU = /^(?:lib)?ggml-cpu\.(?:so|dylib|dll)$/;

/** In place of the name of a package. */
const OWN_LIBRARY = 'own';

/** The release of llama.cpp whose functions Hearth calls, and the version of every package: all are built from it. */
export const LLAMA_CPP_RELEASE = 'v0.5.0';
export const PACKAGE_VERSION = '3.22.1';

/** Where `hearth gpu install` puts packages. */
export const librariesFolder = (home: string): string => path.join(home, 'libraries');

/** One package in the folder of libraries. */
export const installedPackage = (libraries: string, name: string): string =>
  path.join(libraries, `${name}@${PACKAGE_VERSION}`);

/** Where the user's own build lies; of another version of Hearth's llama.cpp, another folder. */
export const ownLibraryFolder = (libraries: string): string =>
  path.join(installedPackage(libraries, OWN_LIBRARY), 'bins');

/** The folders of own builds that another version of Hearth used. */
export function outdatedOwnLibraries(libraries: string): string[] {
  if (!existsSync(libraries)) return [];
  const names = readdirSync(libraries).filter((name) => name.startsWith(`${OWN_LIBRARY}@`));
  return names
    .map((name) => path.join(libraries, name))
    .filter((folder) => folder !== installedPackage(libraries, OWN_LIBRARY));
}

/**
 * The user's own build, which takes the place of every package; null when there is none. One that lacks a file counts:
 * what loads it says so, where another library would compute without a word.
 */
export function ownLibrary(libraries: string | null): LibraryFiles | null {
  if (libraries === null || !existsSync(ownLibraryFolder(libraries))) return null;
  // The kernel names mapped files by their real paths.
  const folder = realpathSync(ownLibraryFolder(libraries));
  const suffix = { darwin: '.dylib', win32: '.dll' }[process.platform as string] ?? '.so';
  const file = (name: string): string =>
    path.join(folder, `${process.platform === 'win32' ? '' : 'lib'}${name}${suffix}`);
  const named = { llama: file('llama'), ggml: file('ggml'), base: file('ggml-base') };
  return librariesIn(folder) ?? { folder, ...named, isOwn: true, compute: [] };
}

/** Names of the files of a folder that belong to a build of llama.cpp, links included. */
export const builtLibraries = (names: readonly string[]): string[] =>
  names.filter((name) => [...Object.values(BUILT), COMPUTE].some((pattern) => pattern.test(name)));

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
  for (const patterns of [LIBRARIES, BUILT]) {
    const find = (pattern: RegExp): string | undefined => names.find((name) => pattern.test(name));
    const [llama, ggml, base] = [find(patterns.llama), find(patterns.ggml), find(patterns.base)];
    if (llama === undefined || ggml === undefined || base === undefined) continue;
    const isOwn = patterns === BUILT;
    const isLinked = isOwn && names.some((name) => GENERIC_CPU.test(name));
    return {
      folder,
      llama: path.join(folder, llama),
      ggml: path.join(folder, ggml),
      base: path.join(folder, base),
      isOwn,
      compute: isLinked
        ? names.filter((name) => COMPUTE.test(name)).map((name) => path.join(folder, name))
        : [],
    };
  }
  return null;
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
