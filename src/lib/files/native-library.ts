/**
 * Locations of llama.cpp's libraries: one prebuilt package per platform and GPU kind, which npm or `hearth gpu install`
 * put there, or the user's own build, which `hearth library use` copied. The child binds them, and the server hashes the
 * same folder.
 */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { apiDigest } from '../../../packages/llama-api/src/probe.ts';
import { minorVersion, platformKey, platformLibrary, TESTED_RELEASES } from './platforms.ts';

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
  /** Libraries of the compiler that lie with them, in the order of their needs: no search would find them there. */
  readonly runtime?: readonly string[];
  /** The declarations that the headers of the user's build agreed with; absent or null when they were not compared. */
  readonly api?: string | null;
}

/** A GPU kind names a package; `cpu` is the one without. */
export type PackageKind = (typeof PACKAGE_KINDS)[number];

export const PACKAGE_KINDS = ['cpu', 'metal', 'vulkan', 'cuda'] as const;

/** Below the libraries of the CUDA package: the same one for the version of CUDA before, and so for older GPUs. */
export const CUDA_FALLBACK = 'fallback';

/** The versions of CUDA, and where their runtime lies below the package: beside what needs it. */
export const CUDA_VERSIONS = { 13: '', 12: CUDA_FALLBACK } as const;

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
/** Reads images and audio; nothing else needs it. */
const MEDIA = /^(?:lib)?mtmd\.(?:so|dylib|dll)$/;
/** Runtime of the compiler, which a build for Windows includes. */
const RUNTIMES = ['libwinpthread-1', 'libgcc_s_seh-1', 'libunwind', 'libstdc++-6', 'libc++'] as const;
const isRuntime = (name: string): boolean => RUNTIMES.some((each) => `${each}.dll` === name.toLowerCase());
const COMPUTE = /^(?:lib)?ggml-(?!base\.)[\w.-]+\.(?:so|dylib|dll)$/;
/** A build with a library for each sort of processor picks one itself. */
const GENERIC_CPU = /^(?:lib)?ggml-cpu\.(?:so|dylib|dll)$/;

/** The release of llama.cpp whose functions Hearth calls, and the version of its source and of the packages for GPUs. */
export const LLAMA_CPP_RELEASE = 'v0.5.0';
export const PACKAGE_VERSION = '3.22.1';

/** Folder of `hearth gpu install`. */
export const librariesFolder = (home: string): string => path.join(home, 'libraries');

/** One package in the folder of libraries. */
export const installedPackage = (libraries: string, name: string): string =>
  path.join(libraries, `${name}@${PACKAGE_VERSION}`);

/** The user's own builds, each in a folder of its name. */
export const buildsFolder = (libraries: string): string => path.join(libraries, 'builds');

export const buildFolder = (libraries: string, name: string): string =>
  path.join(buildsFolder(libraries), name);

export const builtBins = (libraries: string, name: string): string =>
  path.join(buildFolder(libraries, name), 'bins');

/** Names the build in use and the one before it. */
export const selectionFile = (libraries: string): string =>
  path.join(buildsFolder(libraries), 'selected.json');

/** Stored with the libraries, so that their hash covers it. */
export const BUILD_FACTS = 'hearth-build.json';

export interface BuildFacts {
  /** The release of llama.cpp that it was made from. */
  readonly release: string;
  /** The declarations that its headers agreed with (`apiDigest`); null when they were not compared. */
  readonly api: string | null;
}

const BUILD_NAME = /^[\w][\w.+-]{0,63}$/;

export const isBuildName = (text: string): boolean => BUILD_NAME.test(text) && text !== PACKAGED;

/** The name that users give the library that comes with Hearth, in place of the name of a build. */
export const PACKAGED = 'package';

interface Selection {
  /** Null: the package. */
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

/** Null if it is missing or has another form. */
export function readBuildFacts(bins: string): BuildFacts | null {
  const { release, api } = readJson(path.join(bins, BUILD_FACTS)) ?? {};
  if (typeof release !== 'string') return null;
  return { release: release.slice(0, 128), api: typeof api === 'string' ? api : null };
}

export const isTestedRelease = (version: string): boolean => TESTED_RELEASES.has(minorVersion(version) ?? '');

/** The release of the selected build, where Hearth's tests do not run on it; null otherwise. */
export function untestedRelease(libraries: string): string | null {
  const folder = ownLibrary(libraries)?.folder;
  const release = folder === undefined ? undefined : readBuildFacts(folder)?.release;
  return release === undefined || isTestedRelease(release) ? null : release;
}

/** Whether this version of Hearth can call it: its release is known, or its headers agree with what Hearth declares. */
function isUsable(bins: string): boolean {
  const facts = readBuildFacts(bins);
  return facts === null || isTestedRelease(facts.release) || facts.api === apiDigest();
}

/** The user's own builds that this version of Hearth does not use although one of them was selected. */
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
 * The build that the user selected, which takes the place of every package; null when there is none. One that lacks a
 * file counts: what loads it says so, where another library would compute without a word.
 */
export function ownLibrary(libraries: string | null): LibraryFiles | null {
  if (libraries === null) return null;
  const { selected } = readSelection(libraries);
  if (selected === null || !isUsable(builtBins(libraries, selected))) return null;
  const bins = builtBins(libraries, selected);
  // The kernel names mapped files by their real paths.
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

/** Folder of a libmtmd built for a library that came without it, by that library's name and release. */
export const mediaFolder = (libraries: string, name: string): string =>
  path.join(libraries, 'media', `${name}@${LLAMA_CPP_RELEASE}`);

/** The library that decodes images for these libraries: in their folder, or built against them; null: none. */
export function mediaLibrary(files: LibraryFiles, libraries: string | null): string | null {
  const own = libraries === null || !files.isOwn ? null : readSelection(libraries).selected;
  const places = [files.folder, ...(libraries === null ? [] : [mediaFolder(libraries, own ?? PACKAGED)])];
  for (const folder of places) {
    const name = existsSync(folder) ? readdirSync(folder).find(isMediaLibrary) : undefined;
    if (name !== undefined) return path.join(folder, name);
  }
  return null;
}

/** Names of the files of a folder that belong to a build of llama.cpp, links included. */
export const builtLibraries = (names: readonly string[]): string[] =>
  names.filter(
    (name) =>
      isRuntime(name) || [...Object.values(BUILT), COMPUTE, MEDIA].some((pattern) => pattern.test(name)),
  );

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

/** Null if there is none for this machine's processor. */
export const packagedLibrary = (libraries: string | null): LibraryFiles | null =>
  findLibraries('cpu', libraries) ?? findLibraries('metal', libraries);

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

/** Without its scope, for this machine. */
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
  // The kernel names mapped files by their real paths.
  return places.filter((root) => existsSync(root)).map((root) => realpathSync(root));
}
