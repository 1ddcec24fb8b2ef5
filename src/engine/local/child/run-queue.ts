import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const NS_PER_MS = 1e6;

/** Time that a process waits for a processor because other processes run. */
export class RunQueue {
  readonly #tasks: string;
  /** Nanoseconds that each thread has waited in its life. */
  #waited: ReadonlyMap<string, number> = new Map();

  /** `proc`: where Linux shows its processes. */
  constructor(pid: number, proc = '/proc') {
    this.#tasks = path.join(proc, String(pid), 'task');
  }

  /** Longest wait of a thread since the last call; 0 at first, and where the system does not say. */
  async heldUpMs(): Promise<number> {
    const before = this.#waited;
    this.#waited = await this.#read();
    let mostNs = 0;
    for (const [thread, ns] of this.#waited) mostNs = Math.max(mostNs, ns - (before.get(thread) ?? ns));
    return mostNs / NS_PER_MS;
  }

  async #read(): Promise<Map<string, number>> {
    try {
      const threads = await readdir(this.#tasks);
      return new Map(await Promise.all(threads.map(async (id) => [id, await this.#waitedNs(id)] as const)));
    } catch {
      // Not Linux, or a process that has just ended, which is reported by other means.
      return new Map();
    }
  }

  /** The file says how long it ran and waited, in nanoseconds, and in how many slices. */
  async #waitedNs(thread: string): Promise<number> {
    const text = await readFile(path.join(this.#tasks, thread, 'schedstat'), 'latin1');
    return Number(text.split(' ')[1]);
  }
}
