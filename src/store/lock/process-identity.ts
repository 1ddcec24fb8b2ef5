import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isRunning } from '../../lib/base/process-tree.ts';

export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since boot; null if the system does not report it. */
  readonly startTicks: string | null;
  readonly bootId: string | null;
  /** Process ids have no meaning outside their namespace, as with two containers over one folder. */
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

/** `unknown`: the process belongs to another system or namespace, or no /proc distinguishes a reused id. */
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

function startTicks(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  // The second field is the command in brackets and may contain spaces; field 22 counts from after it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function bootId(): string | null {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

function pidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
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
