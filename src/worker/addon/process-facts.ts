/**
 * Native files, CPU features and C library of this process: mapped native files, CPU features, C library. Read once,
 * because it never changes.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import koffi from 'koffi';
import type { FrozenFacts } from '../../contract/frozen.ts';

type Host = FrozenFacts['host'];

interface MappedFile {
  readonly path: string;
  /** Null if the system does not report it. */
  readonly inode: number | null;
}

/** The files of the library's folder that are mapped into this process, in the order of their paths. */
export function boundFiles(folder: string): readonly MappedFile[] {
  const files = loadedFiles().filter(({ path }) => path.startsWith(folder + sep));
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const LLAMA_CPP_FILE = /[\\/](?:lib)?(?:llama|ggml)(?:-[\w-]+)?\.[^\\/]*$/;

/**
 * A library of llama.cpp that is mapped but lies elsewhere, so that no hash covers it; null when there is none, and where
 * the system does not name mapped files by their real paths.
 */
export function strayFile(folder: string): string | null {
  if (process.platform !== 'linux') return null;
  const stray = loadedFiles().find(({ path }) => LLAMA_CPP_FILE.test(path) && !path.startsWith(folder + sep));
  return stray?.path ?? null;
}

const BINDING_FILE = /[\\/]koffi\.node$/;

function loadedFiles(): readonly MappedFile[] {
  return process.platform === 'linux' ? mappedFiles() : sharedObjects();
}

let known: Host | undefined;

export function describeHost(
  folder: string,
  { files, systemInfo }: { readonly files: readonly MappedFile[]; readonly systemInfo: string },
): Host {
  if (known !== undefined) return known;
  const binding = findBinding();
  const host: Host = {
    pid: process.pid,
    // The kernel marks a mapped file whose name now leads to another file; the inode distinguishes them.
    mapped: files.map(({ path, inode }) => ({ name: nameIn(folder, path), inode })),
    cpuFeatures: systemInfo.trim(),
    libc: libcVersion(),
    ...(binding === null ? {} : { binding }),
  };
  known = host;
  return host;
}

/** As hashes of folders name their files. */
function nameIn(folder: string, path: string): string {
  return relative(folder, path.replace(/ \(deleted\)$/, ''))
    .split(sep)
    .join('/');
}

/** Null when the file that is loaded has no name that leads to it any more. */
function findBinding(): Required<Host>['binding'] | null {
  const file = loadedFiles().find(({ path }) => BINDING_FILE.test(path));
  if (file === undefined) return null;
  try {
    const sha256 = createHash('sha256').update(readFileSync(file.path)).digest('hex');
    return { name: 'koffi', version: koffi.version, sha256 };
  } catch {
    return null;
  }
}

/** Lines of the form `address perms offset device inode path`. */
function mappedFiles(): MappedFile[] {
  const files = new Map<string, MappedFile>();
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    const [, inode, path] = /^\S+ \S+ \S+ \S+ (\d+)\s+(\/.*)$/.exec(line) ?? [];
    if (inode !== undefined && path !== undefined) files.set(path, { path, inode: Number(inode) });
  }
  return [...files.values()];
}

/** Without /proc, Node's diagnostic report names the shared objects. */
function sharedObjects(): MappedFile[] {
  const objects = report()['sharedObjects'];
  return Array.isArray(objects) ? objects.map((path) => ({ path: String(path), inode: null })) : [];
}

function libcVersion(): string {
  const header = report()['header'];
  const glibc: unknown =
    typeof header === 'object' && header !== null ? Reflect.get(header, 'glibcVersionRuntime') : undefined;
  return typeof glibc === 'string' ? `glibc ${glibc}` : `${process.platform} system library`;
}

let diagnostics: Readonly<Record<string, unknown>> | undefined;

function report(): Readonly<Record<string, unknown>> {
  const { header, sharedObjects } = Object(diagnostics ?? process.report.getReport()) as Record<
    string,
    unknown
  >;
  diagnostics = { header, sharedObjects };
  return diagnostics;
}
