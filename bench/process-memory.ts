/**
 * Memory of a service measured from outside: the process that listens on a port, and all below it. Linux only, because
 * /proc is all it reads; elsewhere, and for another user's process, nothing is found and nothing is reported.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessMemory {
  readonly pid: number;
  readonly role: 'server' | 'worker';
  /** Resident, shared pages in full. */
  readonly bytes: number;
  /** Resident, each shared page divided by those who share it. */
  readonly pssBytes: number;
}

/** The server first, then its descendants in ascending id; empty when the server cannot be found. */
export function sampleMemory(port: number): ProcessMemory[] {
  const server = listeningProcess(port);
  if (server === null) return [];
  return [sample(server, 'server'), ...descendantsOf(server).map((pid) => sample(pid, 'worker'))].flatMap(
    (found) => found ?? [],
  );
}

/** Processor time so far of the process that listens on a port, milliseconds; its threads count, its children do not. */
export function processorMs(port: number): number {
  const server = listeningProcess(port);
  if (server === null) throw new Error(`nobody of this user listens on port ${port}`);
  const fields = readFileSync(`/proc/${server}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // In ticks of 10 ms: user and system time.
  return 10 * (Number(fields[11]) + Number(fields[12]));
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

function descendantsOf(ancestor: number): number[] {
  const parents = new Map(processes().map((pid) => [pid, numberIn(pid, 'status', 'PPid')]));
  const below = (pid: number | null | undefined): boolean =>
    typeof pid === 'number' && pid > 0 && (pid === ancestor || below(parents.get(pid)));
  return [...parents].filter(([pid, parent]) => pid !== ancestor && below(parent)).map(([pid]) => pid);
}

function sample(pid: number, role: ProcessMemory['role']): ProcessMemory | null {
  const [rss, pss] = ['Rss', 'Pss'].map((name) => numberIn(pid, 'smaps_rollup', name));
  return rss == null || pss == null ? null : { pid, role, bytes: rss * 1024, pssBytes: pss * 1024 };
}

function numberIn(pid: number, file: 'status' | 'smaps_rollup', name: string): number | null {
  const lines = attempt(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'), '');
  const value = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(lines)?.[1];
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
