import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

type BusyMs = () => number | null;

/** The system's clock ticks every ten milliseconds, and reading it takes a tenth of one. */
const WINDOW_MS = 500;
const TICK_MS = 10;

export class OthersUse {
  readonly #busyMs: BusyMs;
  #before: { readonly atMs: number; readonly busyMs: number; readonly ownMs: number } | null = null;
  #cores: number | null = null;

  constructor(busyMs: BusyMs = machineBusyMs) {
    this.#busyMs = busyMs;
  }

  /** Cores that other processes used in the last window; null before the first has ended. */
  cores(atMs: number, ownMs: number): number | null {
    if (this.#before !== null && atMs - this.#before.atMs < WINDOW_MS) return this.#cores;
    const busyMs = this.#busyMs();
    if (busyMs === null) return null;
    if (this.#before !== null) {
      const othersMs = busyMs - this.#before.busyMs - (ownMs - this.#before.ownMs);
      this.#cores = Math.max(0, othersMs / (atMs - this.#before.atMs));
    }
    this.#before = { atMs, busyMs, ownMs };
    return this.#cores;
  }
}

export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** On Linux the kernel's first line, because node:os also reads a file per core. */
function machineBusyMs(): number | null {
  if (process.platform === 'linux') return linuxBusyMs(readFileSync('/proc/stat', 'latin1'));
  const all = cpus();
  if (all.length === 0) return null;
  return all.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}

/** user, nice, system, idle, iowait, irq, softirq, steal: all except the waiting ones. */
export function linuxBusyMs(stat: string): number | null {
  const [, line] = /^cpu +([\d ]+)$/m.exec(stat) ?? [];
  if (line === undefined) return null;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(' ').map(Number);
  return (user + nice + system + irq + softirq + steal) * TICK_MS;
}
