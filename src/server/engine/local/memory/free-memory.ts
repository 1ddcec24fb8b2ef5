/** Memory that a model may take now: the system's available memory within the limit of the control group. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';

/** The kernel answers from memory in about ten microseconds. */
export function freeMemoryBytes(): number {
  if (process.platform === 'darwin') return macFreeBytes();
  if (process.platform !== 'linux') return freemem();
  const available = fieldKib(read('/proc/meminfo'), 'MemAvailable');
  const system = available === null ? freemem() : available * 1024;
  return Math.min(system, groupFreeBytes() ?? Number.POSITIVE_INFINITY);
}

/** Chosen: each reading on macOS starts a process. */
const MAC_FIGURE_MS = 500;
let macFigure = { bytes: 0, untilMs: 0 };

/** On macOS, Node reports only unused pages, which are few: most reclaimable memory caches files. */
function macFreeBytes(): number {
  const nowMs = performance.now();
  if (nowMs < macFigure.untilMs) return macFigure.bytes;
  const bytes = availableInVmStat(execFileSync('/usr/bin/vm_stat', { encoding: 'utf8' })) ?? freemem();
  macFigure = { bytes, untilMs: nowMs + MAC_FIGURE_MS };
  return bytes;
}

export function availableInVmStat(text: string): number | null {
  const pageBytes = Number(/page size of (\d+) bytes/.exec(text)?.[1]);
  const pages = ['free', 'speculative', 'inactive', 'purgeable'].map((kind) =>
    Number(new RegExp(`^Pages ${kind}:\\s+(\\d+)\\.`, 'm').exec(text)?.[1]),
  );
  const bytes = pageBytes * pages.reduce((sum, count) => sum + count, 0);
  return Number.isFinite(bytes) ? bytes : null;
}

/** Bytes of the machine, or of the control group if that allows less. */
export function totalMemoryBytes(): number {
  const limit = process.platform === 'linux' ? Number(read('/sys/fs/cgroup/memory.max')?.trim()) : 0;
  return Number.isFinite(limit) && limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Page cache counts as used in a control group but is reclaimed on demand, so it is subtracted. */
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

/** Missing files are normal: other kernels, other versions of control groups. */
function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
