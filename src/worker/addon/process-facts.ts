/** Mapped native files, CPU features and C library of this process. Read once, because they never change. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import koffi from 'koffi';
import type { FrozenFacts } from '../../contract/frozen.ts';

type Host = FrozenFacts['host'];

interface MappedFile {
  readonly path: string;
  readonly inode: number | null;
}

export function boundFiles(folder: string): readonly MappedFile[] {
  const files = loadedFiles().filter(({ path }) => path.startsWith(folder + sep));
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const LLAMA_CPP_FILE = /[\\/](?:lib)?(?:llama|ggml)(?:-[\w-]+)?\.[^\\/]*$/;

/**
 * A mapped library of llama.cpp from another folder, which no hash covers; null if none is mapped, or the system does
 * not report real paths.
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

function nameIn(folder: string, path: string): string {
  return relative(folder, path.replace(/ \(deleted\)$/, ''))
    .split(sep)
    .join('/');
}

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
