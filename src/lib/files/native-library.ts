/**
 * Where llama.cpp's prebuilt libraries lie: one package per platform and GPU kind. The child binds them, and the server
 * hashes the same folder.
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

/** Null when no such package is installed, or it lacks a library. */
export function findLibraries(kind: PackageKind): LibraryFiles | null {
  const root = packageRoot(packageName(kind));
  const bins = root === null ? '' : path.join(root, 'bins');
  if (!existsSync(bins)) return null;
  for (const name of readdirSync(bins)) {
    const found = librariesIn(path.join(bins, name));
    if (found !== null) return found;
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

function packageName(kind: PackageKind): string {
  const platform = process.platform === 'darwin' ? 'mac' : process.platform === 'win32' ? 'win' : 'linux';
  const arch = process.arch === 'arm' ? 'armv7l' : process.arch;
  return kind === 'cpu' ? `${platform}-${arch}` : `${platform}-${arch}-${kind}`;
}

function packageRoot(name: string): string | null {
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    const root = path.join(folder, '@node-llama-cpp', name);
    // The kernel names mapped files by their real paths.
    if (existsSync(root)) return realpathSync(root);
  }
  return null;
}
