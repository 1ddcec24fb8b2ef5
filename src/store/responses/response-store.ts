/**
 * store/responses owns what is kept of answers for a later request: one file each below SVC_HOME/responses, private to
 * the key that asked, bounded in number and bytes, and gone after a time. It knows nothing of what a record says.
 */
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../lib/base/clock.ts';
import { errnoOf, makeFolder, removeDurably, writeDurably } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';

export const RESPONSE_LIMITS = {
  records: 2_000,
  bytes: 512 * 1024 * 1024,
  /** One conversation; what is longer is not kept. */
  recordBytes: 32 * 1024 * 1024,
  keptMs: 30 * 24 * 60 * 60 * 1000,
};
export type ResponseLimits = Readonly<typeof RESPONSE_LIMITS>;

interface Kept {
  readonly sizeBytes: number;
  readonly storedAtMs: number;
}

/** The names of records and of their temporary files; nothing else is touched. */
const RECORD_FILE = /^[0-9a-f]{64}\.json$/;

export class ResponseStore {
  readonly #folder: string;
  readonly #clock: Pick<Clock, 'unixMs'>;
  readonly #limits: ResponseLimits;
  /** Oldest first. */
  #kept: Promise<Map<string, Kept>> | undefined;

  constructor(home: string, clock: Pick<Clock, 'unixMs'>, limits: ResponseLimits = RESPONSE_LIMITS) {
    this.#folder = path.join(home, 'responses');
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Keeps a record under its id for that owner; false where it is too long to be kept. */
  async put(owner: string, id: string, record: object): Promise<boolean> {
    const text = JSON.stringify(record);
    const sizeBytes = Buffer.byteLength(text);
    if (sizeBytes > this.#limits.recordBytes) return false;
    const kept = await this.#all();
    const file = fileName(owner, id);
    await makeFolder(this.#folder);
    await writeDurably(path.join(this.#folder, file), text);
    kept.delete(file);
    kept.set(file, { sizeBytes, storedAtMs: this.#clock.unixMs() });
    await this.#sweep(kept);
    return true;
  }

  /** The record of that id and owner, or null: never kept, gone, or another's. */
  async get(owner: string, id: string): Promise<unknown> {
    const kept = await this.#all();
    await this.#sweep(kept);
    const file = fileName(owner, id);
    if (!kept.has(file)) return null;
    try {
      // Removed by hand, or damaged: either way there is no such record any more.
      return JSON.parse((await readText(path.join(this.#folder, file))) ?? 'null') as unknown;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return null;
    }
  }

  /** False where there was none. */
  async delete(owner: string, id: string): Promise<boolean> {
    const kept = await this.#all();
    const file = fileName(owner, id);
    if (!kept.delete(file)) return false;
    await removeDurably(path.join(this.#folder, file));
    return true;
  }

  #all(): Promise<Map<string, Kept>> {
    this.#kept ??= readKept(this.#folder);
    return this.#kept;
  }

  /** What is over its time goes, then the oldest while there is too much. */
  async #sweep(kept: Map<string, Kept>): Promise<void> {
    const expired = this.#clock.unixMs() - this.#limits.keptMs;
    let bytes = [...kept.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (const [file, { sizeBytes, storedAtMs }] of kept) {
      const isTooMuch = kept.size > this.#limits.records || bytes > this.#limits.bytes;
      if (storedAtMs > expired && !isTooMuch) return;
      kept.delete(file);
      bytes -= sizeBytes;
      await removeDurably(path.join(this.#folder, file));
    }
  }
}

/** Owner and id are hashed: neither can lead out of the folder, and the names tell nobody whose they are. */
function fileName(owner: string, id: string): string {
  return `${createHash('sha256').update(`${owner}\n${id}`).digest('hex')}.json`;
}

async function readKept(folder: string): Promise<Map<string, Kept>> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  const found: [string, Kept][] = [];
  for (const name of names.filter((each) => RECORD_FILE.test(each))) {
    const { size, mtimeMs } = await stat(path.join(folder, name));
    found.push([name, { sizeBytes: size, storedAtMs: mtimeMs }]);
  }
  return new Map(found.toSorted(([, a], [, b]) => a.storedAtMs - b.storedAtMs));
}
