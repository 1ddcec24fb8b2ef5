import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const NS_PER_MS = 1e6;

/** Measures how long a process waits for a core because other processes run. */
export class RunQueue {
  readonly #tasks: string;
  #waited: ReadonlyMap<string, number> = new Map();

  constructor(pid: number, proc = '/proc') {
    this.#tasks = path.join(proc, String(pid), 'task');
  }

  /** Longest wait of a thread since the last call; 0 on the first call and where the system does not report it. */
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
      return new Map();
    }
  }

  /** Content of schedstat: nanoseconds run, nanoseconds waited, number of slices. */
  async #waitedNs(thread: string): Promise<number> {
    const text = await readFile(path.join(this.#tasks, thread, 'schedstat'), 'latin1');
    return Number(text.split(' ')[1]);
  }
}
