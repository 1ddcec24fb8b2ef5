/**
 * store/responses owns stored answers for later requests: one file each in SVC_HOME/responses, private to the key
 * that asked, bounded in number and bytes with a fair share per key, and expiring. It knows nothing of a record's
 * contents. A record counts as kept once the operating system has its bytes, so that the end of this process cannot
 * lose it. It is synced to the disk after the answer, which therefore never waits for it.
 */
import { createHash } from 'node:crypto';
import { stat, open, readdir, rm } from 'node:fs/promises';
import type { Clock } from '../../lib/base/clock.ts';
import { type Logger, silentLogger } from '../../lib/base/logger.ts';
import { SharedMap } from '../../lib/base/shared-map.ts';
import { errnoCode, ifMissing, removeDurably, moveDurably, temporaryBase } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { parseAnswerInTurns } from '../../lib/json/parse-json-in-turns.ts';
import { RecordDraft, END } from './record-draft.ts';
import path from 'node:path';

export const RESPONSE_LIMITS = {
  records: 2_000,
  bytes: 512 * 1024 * 1024,
  recordBytes: 32 * 1024 * 1024,
  keptMs: 30 * 24 * 60 * 60 * 1000,
};
/** Bounded by bytes instead, and these hold text of requests. */
const OWN_RECORD = { depth: 256, tokens: Infinity };
export type ResponseLimits = Readonly<typeof RESPONSE_LIMITS>;

interface Kept {
  readonly file: string;
  readonly owner: string;
  readonly sizeBytes: number;
  readonly storedAtMs: number;
  draft?: RecordDraft | undefined;
}

export interface ResponseStoreOptions {
  readonly limits?: ResponseLimits;
  readonly log?: Pick<Logger, 'warn'>;
}

export class ResponseStore {
  readonly #folder: string;
  readonly #clock: Pick<Clock, 'unixMs'>;
  readonly #limits: ResponseLimits;
  #kept: Promise<SharedMap<string, Kept>> | undefined;
  #disk: Promise<void> = Promise.resolve();
  readonly #log: Pick<Logger, 'warn'>;
  readonly #reportedErrors = new Set<string>();

  constructor(home: string, clock: Pick<Clock, 'unixMs'>, options: ResponseStoreOptions = {}) {
    this.#folder = path.join(home, 'responses');
    this.#clock = clock;
    this.#limits = options.limits ?? RESPONSE_LIMITS;
    this.#log = options.log ?? silentLogger;
  }

  /**
   * Replaces an earlier record of that owner and id. End it with `end`, which returns false if the record is too
   * long, or with `drop`.
   */
  begin(owner: string, id: string) {
    const name = recordName(owner, id);
    const draft = new RecordDraft(path.join(this.#folder, name.file), {
      // Only drafts from before the first own draft are leftovers of dead processes.
      ready: this.#all(),
      mostBytes: this.#limits.recordBytes,
    });
    return {
      add: (text: string): void => draft.add(text),
      // Nobody needs it any more: the next start removes what cannot be removed now.
      drop: (): Promise<void> => draft.drop().catch(() => undefined),
      end: async (text: string): Promise<boolean> => {
        try {
          if (!(await draft.end(text))) return false;
        } catch (error) {
          this.#tell(error);
          throw error;
        }
        this.#keep(await this.#all(), name, draft);
        return true;
      },
    };
  }

  async get(owner: string, id: string): Promise<unknown> {
    const kept = await this.#all();
    this.#sweep(kept);
    const found = kept.get(recordName(owner, id).key);
    if (found === undefined) return null;
    try {
      const text = found.draft?.text ?? (await readText(path.join(this.#folder, found.file)));
      return text === null ? null : await parseAnswerInTurns(Buffer.from(text), OWN_RECORD);
    } catch (error) {
      if (!isFailure(error, 'invalid_json')) throw error;
      return null;
    }
  }

  /** False if there was none. Once it resolves, the record is off the disk. */
  async delete(owner: string, id: string): Promise<boolean> {
    const kept = await this.#all();
    const { key } = recordName(owner, id);
    const found = kept.get(key);
    if (found === undefined) return false;
    kept.delete(key);
    await this.#disk;
    await this.#remove(found);
    return true;
  }

  async settled(): Promise<void> {
    await this.#disk;
  }

  #all(): Promise<SharedMap<string, Kept>> {
    this.#kept ??= readKept(this.#folder, this.#limits).catch((error: unknown) => {
      this.#kept = undefined;
      throw error;
    });
    return this.#kept;
  }

  #keep(kept: SharedMap<string, Kept>, { key, file, owner }: RecordName, draft: RecordDraft): void {
    const { sizeBytes } = draft;
    const record: Kept = { file, owner, sizeBytes, storedAtMs: this.#clock.unixMs(), draft };
    kept.set(key, record, { owner, size: sizeBytes });
    this.#later(async () => {
      await draft.settle();
      record.draft = undefined;
    });
    this.#sweep(kept);
  }

  /** Removes expired records, then, while there are too many, the oldest of the key that has most. */
  #sweep(kept: SharedMap<string, Kept>): void {
    const expired = this.#clock.unixMs() - this.#limits.keptMs;
    const drop = (key: string, record: Kept): void => {
      kept.delete(key);
      this.#later(() => this.#remove(record));
    };
    for (const [key, record] of kept.entries()) {
      if (record.storedAtMs > expired) break;
      drop(key, record);
    }
    for (let key = kept.excess(); key !== undefined; key = kept.excess()) drop(key, kept.get(key) as Kept);
  }

  async #remove({ file, draft }: Kept): Promise<void> {
    await draft?.drop();
    await removeDurably(path.join(this.#folder, file));
  }

  /** A failing disk loses nothing: an unnamed record stays in memory, and the next start finds its file. */
  #later(work: () => Promise<void>): void {
    this.#disk = this.#disk.then(work).catch((error: unknown) => this.#tell(error));
  }

  #tell(error: unknown): void {
    const name = errnoCode(error) ?? String(error);
    if (this.#reportedErrors.has(name)) return;
    this.#reportedErrors.add(name);
    this.#log.warn({ error: name, folder: this.#folder }, 'The disk refused a change of the kept responses.');
  }
}

interface RecordName {
  readonly key: string;
  readonly file: string;
  readonly owner: string;
}

/** Hashes owner and id: neither can lead out of the folder, and names reveal no key. */
function recordName(owner: string, id: string): RecordName {
  const key = sha256(`${owner}\n${id}`);
  const tag = sha256(`owner\n${owner}`).slice(0, 16);
  return { key, owner: tag, file: `${tag}-${key}.json` };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function readKept(
  folder: string,
  { records, bytes }: ResponseLimits,
): Promise<SharedMap<string, Kept>> {
  const names = await takeLeftovers(folder).catch(ifMissing([]));
  const found: [string, Kept][] = [];
  for (const file of names) {
    const { size, mtimeMs } = await stat(path.join(folder, file));
    // Files of earlier versions have no owner; together they are one share.
    const [key = '', owner = ''] = path.basename(file, '.json').split('-').toReversed();
    found.push([key, { file, owner, sizeBytes: size, storedAtMs: mtimeMs }]);
  }
  const kept = new SharedMap<string, Kept>({ entries: records, size: bytes });
  for (const [key, record] of found.toSorted(([, a], [, b]) => a.storedAtMs - b.storedAtMs))
    kept.set(key, record, { owner: record.owner, size: record.sizeBytes });
  return kept;
}

/**
 * Returns the records in the folder. Must run before this process has a draft of its own. A draft that cannot be
 * settled is left for the next start, so that it does not block the others.
 */
async function takeLeftovers(folder: string): Promise<string[]> {
  const drafts: Leftover[] = [];
  for (const name of await readdir(folder)) {
    const record = temporaryBase(name);
    if (record === null || !RECORD_FILE.test(record)) continue;
    const file = path.join(folder, name);
    drafts.push({ file, record, writtenAtMs: (await stat(file)).mtimeMs });
  }
  for (const draft of drafts.toSorted((a, b) => a.writtenAtMs - b.writtenAtMs))
    await take(draft, folder).catch(() => undefined);
  return (await readdir(folder)).filter((name) => RECORD_FILE.test(name));
}

async function take({ file, record }: Leftover, folder: string): Promise<void> {
  if (await isWhole(file)) await moveDurably(file, path.join(folder, record));
  else await rm(file, { force: true });
}

/** No other file is touched, except drafts. */
const RECORD_FILE = /^(?:[0-9a-f]{16}-)?[0-9a-f]{64}\.json$/;

interface Leftover {
  readonly file: string;
  readonly record: string;
  readonly writtenAtMs: number;
}

/** Syncs a whole draft to the disk. */
async function isWhole(draft: string): Promise<boolean> {
  const file = await open(draft, 'r');
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read({ buffer: Buffer.alloc(END.length), position: Math.max(0, size - 1) });
    if (buffer.toString() !== END) return false;
    await file.sync();
    return true;
  } finally {
    await file.close();
  }
}
