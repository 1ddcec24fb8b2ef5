/** What this process computes with: mapped native files, CPU features, C library. The same for all its life. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Llama } from 'node-llama-cpp';
import type { FrozenFacts } from '../../contract/frozen.ts';
import { backendFacts } from '../addon/boot.ts';

type Host = FrozenFacts['host'];

let known: Host | undefined;

export function frozenHost(llama: Llama): Host {
  known ??= {
    pid: process.pid,
    mapped: mappedFiles(llama),
    cpuFeatures: llama.systemInfo.trim(),
    libc: libcVersion(),
  };
  return known;
}

function mappedFiles(llama: Llama): Host['mapped'] {
  const inodes = process.platform === 'linux' ? inodesOfMaps() : new Map<string, number>();
  // The kernel marks a mapped file whose name has been given to another file; the inode then tells them apart.
  return backendFacts(llama).mapped.map((path) => ({
    name: basename(path.replace(/ \(deleted\)$/, '')),
    inode: inodes.get(path) ?? null,
  }));
}

/** Lines of the form `address perms offset device inode path`. */
function inodesOfMaps(): Map<string, number> {
  const inodes = new Map<string, number>();
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    const found = /^\S+ \S+ \S+ \S+ (\d+)\s+(\/.*)$/.exec(line);
    if (found?.[1] !== undefined && found[2] !== undefined) inodes.set(found[2], Number(found[1]));
  }
  return inodes;
}

function libcVersion(): string {
  const report: unknown = process.report.getReport();
  const header: unknown =
    typeof report === 'object' && report !== null ? Reflect.get(report, 'header') : null;
  const glibc: unknown =
    typeof header === 'object' && header !== null ? Reflect.get(header, 'glibcVersionRuntime') : undefined;
  return typeof glibc === 'string' ? `glibc ${glibc}` : `${process.platform} system library`;
}
