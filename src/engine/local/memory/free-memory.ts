/** How much memory a model may take now: what the system calls available, within the limit of the control group. */
import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';

/** Bytes. Decisions need the figure of this moment; the kernel answers from memory, in some ten microseconds. */
export function freeMemoryBytes(): number {
  if (process.platform !== 'linux') return freemem();
  const available = fieldKib(read('/proc/meminfo'), 'MemAvailable');
  const system = available === null ? freemem() : available * 1024;
  return Math.min(system, groupFreeBytes() ?? Number.POSITIVE_INFINITY);
}

/** Bytes of the machine, or of the control group where that allows less. */
export function totalMemoryBytes(): number {
  const limit = process.platform === 'linux' ? Number(read('/sys/fs/cgroup/memory.max')?.trim()) : 0;
  return Number.isFinite(limit) && limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Page cache counts as used in a control group but is given back on demand, so it is taken off. */
function groupFreeBytes(): number | null {
  const limit = Number(read('/sys/fs/cgroup/memory.max')?.trim());
  const used = Number(read('/sys/fs/cgroup/memory.current')?.trim());
  if (!Number.isFinite(limit) || !Number.isFinite(used) || limit === 0) return null;
  const cache = Number(/^inactive_file (\d+)$/m.exec(read('/sys/fs/cgroup/memory.stat') ?? '')?.[1] ?? 0);
  return Math.max(0, limit - used + cache);
}

function fieldKib(text: string | null, name: string): number | null {
  const digits = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Absent files are usual here: other kernels, other versions of control groups. */
function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
