/**
 * Locations of llama.cpp's libraries: prebuilt packages per platform and GPU kind, installed by npm or `hearth gpu
 * install`, or the user's own build, copied by `hearth library use`. The child binds them, and the server hashes the
 * same folder.
 */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { apiDigest } from '../../../packages/llama-api/src/probe.ts';
import { minorVersion, platformKey, platformLibrary, TESTED_RELEASES } from './platforms.ts';

export interface LibraryFiles {
  readonly folder: string;
  readonly llama: string;
  readonly ggml: string;
  readonly base: string;
  readonly isOwn: boolean;
  /** Compute libraries that ggml may need, loaded before it; packages find them later. */
  readonly compute: readonly string[];
  /** Compiler runtime libraries in dependency order, loaded explicitly because no search path finds them. */
  readonly runtime?: readonly string[];
  /** Declarations that the headers of the user's build matched; absent or null if not compared. */
  readonly api?: string | null;
}

export type PackageKind = (typeof PACKAGE_KINDS)[number];

export const PACKAGE_KINDS = ['cpu', 'metal', 'vulkan', 'cuda'] as const;

/** Subfolder of the CUDA package: the same library for the previous CUDA version, and so for older GPUs. */
export const CUDA_FALLBACK = 'fallback';

/** Folder of each CUDA version's runtime in the package, next to the library that needs it. */
export const CUDA_VERSIONS = { 13: '', 12: CUDA_FALLBACK } as const;

const LIBRARIES = {
  llama: /^(?:lib)?llama(?:\.\w+)?\.v[\d.]+\.(?:so|dylib|dll)$/,
  ggml: /^(?:lib)?ggml(?:\.\w+)?\.v[\d.]+\.(?:so|dylib|dll)$/,
  base: /^(?:lib)?ggml-base\.(?:so|dylib|dll)$/,
} as const;

const BUILT = {
  llama: /^(?:lib)?llama\.(?:so|dylib|dll)$/,
  ggml: /^(?:lib)?ggml\.(?:so|dylib|dll)$/,
  base: LIBRARIES.base,
} as const;
const MEDIA = /^(?:lib)?mtmd\.(?:so|dylib|dll)$/;
const RUNTIMES = ['libwinpthread-1', 'libgcc_s_seh-1', 'libunwind', 'libstdc++-6', 'libc++'] as const;
const isRuntime = (name: string): boolean => RUNTIMES.some((each) => `${each}.dll` === name.toLowerCase());
const COMPUTE = /^(?:lib)?ggml-(?!base\.)[\w.-]+\.(?:so|dylib|dll)$/;
/** A build with one library per CPU type chooses among them itself. */
const GENERIC_CPU = /^(?:lib)?ggml-cpu\.(?:so|dylib|dll)$/;

export const LLAMA_CPP_RELEASE = 'v0.5.0';
export const PACKAGE_VERSION = '3.22.1';

export const librariesFolder = (home: string): string => path.join(home, 'libraries');

export const installedPackage = (libraries: string, name: string): string =>
  path.join(libraries, `${name}@${PACKAGE_VERSION}`);

export const buildsFolder = (libraries: string): string => path.join(libraries, 'builds');

export const buildFolder = (libraries: string, name: string): string =>
  path.join(buildsFolder(libraries), name);

export const builtBins = (libraries: string, name: string): string =>
  path.join(buildFolder(libraries, name), 'bins');

export const selectionFile = (libraries: string): string =>
  path.join(buildsFolder(libraries), 'selected.json');

/** Stored with the libraries, so that their hash covers it. */
export const BUILD_FACTS = 'hearth-build.json';

export interface BuildFacts {
  readonly release: string;
  readonly api: string | null;
}

const BUILD_NAME = /^[\w][\w.+-]{0,63}$/;

export const isBuildName = (text: string): boolean => BUILD_NAME.test(text) && text !== PACKAGED;

export const PACKAGED = 'package';

interface Selection {
  readonly selected: string | null;
  readonly before: string | null;
}

export function readSelection(libraries: string): Selection {
  const stored = readJson(selectionFile(libraries));
  const name = (key: keyof Selection): string | null => {
    const value = stored?.[key];
    return typeof value === 'string' && BUILD_NAME.test(value) ? value : null;
  };
  return { selected: name('selected'), before: name('before') };
}

export function readBuildFacts(bins: string): BuildFacts | null {
  const { release, api } = readJson(path.join(bins, BUILD_FACTS)) ?? {};
  if (typeof release !== 'string') return null;
  return { release: release.slice(0, 128), api: typeof api === 'string' ? api : null };
}

export const isTestedRelease = (version: string): boolean => TESTED_RELEASES.has(minorVersion(version) ?? '');

export function untestedRelease(libraries: string): string | null {
  const folder = ownLibrary(libraries)?.folder;
  const release = folder === undefined ? undefined : readBuildFacts(folder)?.release;
  return release === undefined || isTestedRelease(release) ? null : release;
}

function isUsable(bins: string): boolean {
  const facts = readBuildFacts(bins);
  return facts === null || isTestedRelease(facts.release) || facts.api === apiDigest();
}

export function outdatedOwnLibraries(libraries: string): string[] {
  if (!existsSync(libraries)) return [];
  const { selected } = readSelection(libraries);
  const isOutdated = selected !== null && !isUsable(builtBins(libraries, selected));
  const earlier = readdirSync(libraries).filter((name) => name.startsWith('own@'));
  return [
    ...earlier.map((name) => path.join(libraries, name)),
    ...(isOutdated ? [buildFolder(libraries, selected)] : []),
  ];
}

/**
 * The selected build, which replaces every package; null if none. An incomplete build counts: loading it reports the
 * missing file, whereas another library would silently take its place.
 */
export function ownLibrary(libraries: string | null): LibraryFiles | null {
  if (libraries === null) return null;
  const { selected } = readSelection(libraries);
  if (selected === null || !isUsable(builtBins(libraries, selected))) return null;
  const bins = builtBins(libraries, selected);
  // The kernel reports mapped files by their real paths.
  const folder = existsSync(bins) ? realpathSync(bins) : bins;
  const suffix = { darwin: '.dylib', win32: '.dll' }[process.platform as string] ?? '.so';
  const file = (name: string): string =>
    path.join(folder, `${process.platform === 'win32' ? '' : 'lib'}${name}${suffix}`);
  const named = { llama: file('llama'), ggml: file('ggml'), base: file('ggml-base') };
  const api = readBuildFacts(folder)?.api ?? null;
  return { ...(librariesIn(folder) ?? { folder, ...named, isOwn: true, compute: [] }), api };
}

function readJson(file: string): Readonly<Record<string, unknown>> | null {
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8'))) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}

export const isMediaLibrary = (name: string): boolean => MEDIA.test(name);

export const mediaFolder = (libraries: string, name: string): string =>
  path.join(libraries, 'media', `${name}@${LLAMA_CPP_RELEASE}`);

/** The image decoder for these libraries: in their folder, or built against them; null: none. */
export function mediaLibrary(files: LibraryFiles, libraries: string | null): string | null {
  const own = libraries === null || !files.isOwn ? null : readSelection(libraries).selected;
  const places = [files.folder, ...(libraries === null ? [] : [mediaFolder(libraries, own ?? PACKAGED)])];
  for (const folder of places) {
    const name = existsSync(folder) ? readdirSync(folder).find(isMediaLibrary) : undefined;
    if (name !== undefined) return path.join(folder, name);
  }
  return null;
}

export const builtLibraries = (names: readonly string[]): string[] =>
  names.filter(
    (name) =>
      isRuntime(name) || [...Object.values(BUILT), COMPUTE, MEDIA].some((pattern) => pattern.test(name)),
  );

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

export const packagedLibrary = (libraries: string | null): LibraryFiles | null =>
  findLibraries('cpu', libraries) ?? findLibraries('metal', libraries);

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
      runtime: RUNTIMES.map((name) => names.find((each) => each.toLowerCase() === `${name}.dll`))
        .filter((name) => name !== undefined)
        .map((name) => path.join(folder, name)),
      compute: isLinked
        ? names.filter((name) => COMPUTE.test(name)).map((name) => path.join(folder, name))
        : [],
    };
  }
  return null;
}

export function packageName(kind: PackageKind): string {
  const { package: name } = platformLibrary() ?? { package: platformKey() };
  const isUsual = kind === 'cpu' || name.endsWith(`-${kind}`);
  return isUsual ? name : `${name}-${kind}`;
}

function packageRoots(name: string, libraries: string | null): string[] {
  const require = createRequire(import.meta.url);
  const places = (require.resolve.paths(name) ?? []).map((folder) =>
    path.join(folder, '@node-llama-cpp', name),
  );
  if (libraries !== null) places.unshift(installedPackage(libraries, name));
  return places.filter((root) => existsSync(root)).map((root) => realpathSync(root));
}
