/**
 * store/batches owns the files of the batch API below SVC_HOME/batches: uploads, batch records and answers.
 * Everything is private to the key that created it, bounded, and expires. It knows nothing of the contents of a line.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/logger.ts';
import {
  fileSize,
  makeFolder,
  moveDurably,
  PRIVATE_FILE,
  removeDurably,
  writeAll,
  writeFailure,
} from '../../lib/files/durable.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { BatchLimits } from './limits.ts';
import { Records } from './records.ts';

/** Times are Unix seconds. */
export interface StoredFile {
  readonly schema: 1;
  readonly owner: string;
  readonly filename: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface StoredBatch {
  readonly schema: 1;
  readonly owner: string;
  readonly createdAt: number;
  readonly isOver: boolean;
  readonly batch: unknown;
}

export interface FileDraft {
  /** Rejects with `body_too_large`, `files_full`, or the disk's error. */
  add(bytes: Buffer): Promise<void>;
  keep(about: Pick<StoredFile, 'filename' | 'purpose'> & { readonly keptS: number }): Promise<string>;
  drop(): Promise<void>;
}

const LINES = '.jsonl';
const PART = '.part';

const batchesFolder = (home: string): string => path.join(home, 'batches');

export const newFileId = (): string => `file-${randomBytes(16).toString('hex')}`;

export class BatchStore {
  readonly files: Records<StoredFile>;
  readonly batches: Records<StoredBatch>;
  readonly #filesFolder: string;
  readonly #logsFolder: string;
  readonly #clock: Pick<Clock, 'unixMs'>;
  readonly #limits: BatchLimits;
  readonly #drafts = new Set<Pick<StoredFile, 'owner' | 'bytes'>>();

  private constructor(
    folder: string,
    kept: Pick<BatchStore, 'files' | 'batches'>,
    options: { readonly clock: Pick<Clock, 'unixMs'>; readonly limits: BatchLimits },
  ) {
    this.files = kept.files;
    this.batches = kept.batches;
    this.#filesFolder = path.join(folder, 'files');
    this.#logsFolder = path.join(folder, 'logs');
    this.#clock = options.clock;
    this.#limits = options.limits;
  }

  static async exists(home: string): Promise<boolean> {
    return (await fileSize(batchesFolder(home))) !== null;
  }

  /** A home has one process at a time, so a partial file here was left by a process that is dead. */
  static async open(
    home: string,
    options: {
      readonly clock: Pick<Clock, 'unixMs'>;
      readonly limits: BatchLimits;
      readonly log: Pick<Logger, 'warn'>;
    },
  ): Promise<BatchStore> {
    const folder = batchesFolder(home);
    const onSkipped = (file: string): void =>
      options.log.warn(
        { file },
        'A record of the batch API is damaged or of a later version; it is left out.',
      );
    const files = await Records.open<StoredFile>(path.join(folder, 'files'), onSkipped);
    const batches = await Records.open<StoredBatch>(path.join(folder, 'batches'), onSkipped);
    const store = new BatchStore(folder, { files, batches }, options);
    await makeFolder(store.#logsFolder);
    for (const name of await readdir(store.#filesFolder))
      if (name.endsWith(PART) || name.startsWith('.')) await rm(path.join(store.#filesFolder, name));
    return store;
  }

  get nowS(): number {
    return Math.floor(this.#clock.unixMs() / 1000);
  }

  contentPath(fileId: string): string {
    return path.join(this.#filesFolder, fileId + LINES);
  }

  logPath(batchId: string, kind: 'output' | 'error'): string {
    return path.join(this.#logsFolder, `${batchId}.${kind}${LINES}`);
  }

  async receive(owner: string): Promise<FileDraft> {
    const draft = { owner, bytes: 0 };
    this.#requireRoom(draft);
    this.#drafts.add(draft);
    const id = newFileId();
    const temporary = path.join(this.#filesFolder, id + PART);
    let file: FileHandle | null = null;
    // Writes run in order, and none after the end: a form may be refused while a piece of it is being written.
    let last: Promise<unknown> = Promise.resolve();
    const next = <T>(work: () => Promise<T>): Promise<T> => {
      const done = last.then(work);
      last = done.catch(() => undefined);
      return done;
    };
    let isOver = false;
    const opened = async (): Promise<FileHandle> => {
      if (isOver) throw fail('cancelled');
      return (file ??= await open(temporary, 'wx', PRIVATE_FILE));
    };
    const close = async (): Promise<void> => {
      isOver = true;
      await file?.close();
      file = null;
    };
    return {
      add: (piece) =>
        next(async () => {
          draft.bytes += piece.length;
          if (draft.bytes > this.#limits.fileBytes)
            throw fail('body_too_large', { limitBytes: this.#limits.fileBytes });
          this.#requireRoom(draft);
          await writing(temporary, async () => writeAll(await opened(), piece));
        }),
      keep: ({ keptS, ...about }) =>
        next(async () => {
          await writing(temporary, async () => {
            await (await opened()).sync();
            await close();
            await moveDurably(temporary, this.contentPath(id));
          });
          this.#drafts.delete(draft);
          await this.#keep(id, { ...about, ...draft, keptS });
          return id;
        }),
      drop: () =>
        next(async () => {
          await close();
          this.#drafts.delete(draft);
          await rm(temporary, { force: true });
        }),
    };
  }

  /**
   * Makes the log of a batch a file with that id. Repeating it after a crash changes nothing. False: there is no log.
   */
  async adopt(
    log: string,
    id: string,
    about: Pick<StoredFile, 'owner' | 'filename' | 'purpose'> & { readonly keptS: number },
  ): Promise<boolean> {
    if (this.files.get(id) !== undefined) return true;
    const content = this.contentPath(id);
    const size = await fileSize(log);
    if (size !== null) await moveDurably(log, content);
    const bytes = size ?? (await fileSize(content));
    if (bytes === null) return false;
    await this.#keep(id, { ...about, bytes });
    return true;
  }

  /** The record goes last: the next start completes a removal that a crash interrupted. */
  async deleteFile(id: string): Promise<void> {
    await removeDurably(this.contentPath(id));
    await this.files.delete(id);
  }

  async deleteBatch(id: string): Promise<void> {
    for (const kind of ['output', 'error'] as const) await removeDurably(this.logPath(id, kind));
    await this.batches.delete(id);
  }

  /** Removes files that a crash left without a record. Must run before anything else. */
  async removeLeftovers(inUse: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#filesFolder)) {
      const id = path.basename(name, LINES);
      if (name.endsWith(LINES) && this.files.get(id) === undefined && !inUse.has(id))
        await rm(path.join(this.#filesFolder, name));
    }
  }

  async sweep(inUse: ReadonlySet<string>): Promise<void> {
    const nowS = this.nowS;
    for (const [id, { expiresAt }] of this.files.entries())
      if (expiresAt <= nowS && !inUse.has(id)) await this.deleteFile(id);
    for (const [id, { isOver, createdAt }] of this.batches.entries())
      if (isOver && createdAt + 2 * this.#limits.keptS <= nowS) await this.deleteBatch(id);
  }

  requireBatchRoom(owner: string): void {
    const all = this.batches.entries();
    const open = all.filter(([, each]) => each.owner === owner && !each.isOver).length;
    const { ownerOpenBatches, batches } = this.#limits;
    if (open >= ownerOpenBatches) throw fail('batches_full', { limit: ownerOpenBatches });
    if (all.length >= batches) throw fail('batches_full', { limit: batches });
  }

  async #keep(
    id: string,
    { keptS, ...about }: Omit<StoredFile, 'schema' | 'createdAt' | 'expiresAt'> & { readonly keptS: number },
  ): Promise<void> {
    const createdAt = this.nowS;
    await this.files.put(id, { schema: 1, ...about, createdAt, expiresAt: createdAt + keptS });
  }

  /** Counts unfinished uploads too, because many can be under way at once. */
  #requireRoom(draft: Pick<StoredFile, 'owner' | 'bytes'>): void {
    const { ownerFiles, ownerBytes, files, bytes: mostBytes } = this.#limits;
    const all = [...this.files.entries().map(([, file]) => file), ...this.#drafts].filter(
      (other) => other !== draft,
    );
    const own = all.filter(({ owner }) => owner === draft.owner);
    const sum = (list: typeof all): number => list.reduce((total, { bytes }) => total + bytes, draft.bytes);
    const isFull =
      own.length >= ownerFiles || all.length >= files || sum(own) > ownerBytes || sum(all) > mostBytes;
    if (isFull) throw fail('files_full', { limit: ownerFiles, limitBytes: ownerBytes });
  }
}

async function writing(file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw writeFailure(file, error);
  }
}
