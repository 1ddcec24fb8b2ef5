/** Identity of a lock's holder, distinct from a later process with the same process id. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  readonly pid: number;
  /** Start of the process in clock ticks since boot; null if the system does not report it. */
  readonly startTicks: string | null;
  readonly bootId: string | null;
  /** Process ids mean nothing outside their namespace, as with two containers over one folder. */
  readonly pidNamespace: string | null;
  readonly host: string;
}

export type Liveness = 'alive' | 'dead' | 'unknown';

export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    startTicks: startTicks(process.pid),
    bootId: bootId(),
    pidNamespace: pidNamespace(),
    host: hostname(),
  };
}

/**
 * Whether the process still runs, judged from here; `unknown` when it lives in another system or namespace, and where no
 * /proc tells it from a later process of the same id.
 */
export function checkLiveness(other: ProcessIdentity): Liveness {
  const boot = bootId();
  if (boot === null || other.bootId === null) {
    const isHere = boot === other.bootId && other.host === hostname();
    return isHere && !isRunning(other.pid) ? 'dead' : 'unknown';
  }
  if (other.bootId !== boot) return other.host === hostname() ? 'dead' : 'unknown';
  if (other.pidNamespace !== pidNamespace()) return 'unknown';
  if (!isRunning(other.pid)) return 'dead';
  return startTicks(other.pid) === other.startTicks ? 'alive' : 'dead';
}

/** True if a process of that id exists here. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists but belongs to another user.
    return error instanceof Error && Reflect.get(error, 'code') === 'EPERM';
  }
}

function startTicks(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  // The second field is the command in brackets and may hold spaces; field 22 counts from after it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function bootId(): string | null {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

function pidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has namespaces; other systems have one space of process ids.
    return null;
  }
}

/** On other systems the path may lead to a foreign system, as under Wine. */
function readText(path: string): string | null {
  if (process.platform !== 'linux') return null;
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // No /proc on this system, or the process is gone: unknown in both cases.
    return null;
  }
}
