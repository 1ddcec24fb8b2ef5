/**
 * Memory of a service measured from outside: the process that listens on a port, and its children. Linux only, because
 * /proc is all it reads; elsewhere, and for another user's process, nothing is found and nothing is reported.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessMemory {
  readonly pid: number;
  readonly role: 'server' | 'worker';
  readonly bytes: number;
}

/** The server first, then its children in ascending id; empty when the server cannot be found. */
export function sampleMemory(port: number): ProcessMemory[] {
  const server = listeningProcess(port);
  if (server === null) return [];
  return [sample(server, 'server'), ...childrenOf(server).map((pid) => sample(pid, 'worker'))].flatMap(
    (found) => found ?? [],
  );
}

function listeningProcess(port: number): number | null {
  const sockets = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeners(table, port)));
  if (sockets.size === 0) return null;
  return processes().find((pid) => openFiles(pid).some((file) => sockets.has(file))) ?? null;
}

/** Names of the listening sockets of a port, as they stand in /proc/PID/fd. */
function listeners(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listening = '0A';
  return attempt(() => readFileSync(table, 'utf8'), '')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === listening)
    .map((columns) => `socket:[${columns[9]}]`);
}

function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return attempt(() => readdirSync(folder), []).map((fd) =>
    attempt(() => readlinkSync(`${folder}/${fd}`), ''),
  );
}

function childrenOf(parent: number): number[] {
  return processes().filter((pid) => statusNumber(pid, 'PPid') === parent);
}

function sample(pid: number, role: ProcessMemory['role']): ProcessMemory | null {
  const kilobytes = statusNumber(pid, 'VmRSS');
  return kilobytes === null ? null : { pid, role, bytes: kilobytes * 1024 };
}

function statusNumber(pid: number, name: string): number | null {
  const status = attempt(() => readFileSync(`/proc/${pid}/status`, 'utf8'), '');
  const value = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1];
  return value === undefined ? null : Number(value);
}

function processes(): number[] {
  return attempt(() => readdirSync('/proc'), [])
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Processes end while they are looked at, and some may not be looked at. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
