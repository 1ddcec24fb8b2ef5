/**
 * server/api/batches owns the files and batches of OpenAI's batch API: requests sent as the lines of a file, answered while
 * nothing else waits, and fetched as the lines of another. It knows nothing of HTTP; the use case of the endpoint
 * answers a line.
 */
import { randomBytes } from 'node:crypto';
import { parseDuration } from '../../../lib/base/duration.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import { fail } from '../../../lib/errors/svc-error.ts';
import { BatchStore, type FileDraft, type StoredFile } from '../../../store/batches/batch-store.ts';
import { BATCH_LIMITS, type BatchLimits } from '../../../store/batches/limits.ts';
import type {
  Batch,
  BatchesQuery,
  BatchList,
  BatchRequest,
  DeletedFile,
  FileList,
  FileObject,
  FilesQuery,
} from '../../../wire/batches.ts';
import type { LineEdge, FindRights } from './ports.ts';
import { type BatchRecord, RunningBatch } from './running-batch.ts';

export interface BatchPorts {
  readonly home: string;
  readonly findRights: FindRights;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: BatchLimits;
}

export interface FileFields {
  readonly filename: string;
  readonly purpose: string | undefined;
  /** Seconds, as text. */
  readonly expiresAfter: string | undefined;
}

const LEAST_KEPT_S = 3600;
const LEAST_WINDOW_MS = 60_000;
const AGAIN_MS = 60_000;
const SWEEP_MS = 3_600_000;

export class BatchUseCases {
  readonly #ports: BatchPorts;
  readonly #limits: BatchLimits;
  #edge: LineEdge | null = null;
  #store: Promise<BatchStore> | undefined;
  readonly #running = new Map<string, RunningBatch>();
  readonly #works = new Set<Promise<void>>();
  #isClosed = false;
  #cancelTimer: (() => void) | null = null;

  constructor(ports: BatchPorts) {
    this.#ports = ports;
    this.#limits = ports.limits ?? BATCH_LIMITS;
  }

  start(edge: LineEdge): void {
    this.#edge = edge;
    void BatchStore.exists(this.#ports.home)
      .then((isThere) => (isThere ? this.#open() : undefined))
      .catch((error: unknown) => this.#tell(error));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    for (const running of this.#running.values()) running.interrupt();
    await Promise.all(this.#works);
  }

  async receive(owner: string): Promise<FileDraft> {
    return (await this.#open()).receive(owner);
  }

  async keep(draft: FileDraft, { filename, purpose, expiresAfter }: FileFields): Promise<FileObject> {
    try {
      if (purpose !== 'batch') refuse('purpose', 'purpose must be batch; files serve nothing else here.');
      const keptS = expiresAfter === undefined ? this.#limits.keptS : Number(expiresAfter);
      if (!Number.isInteger(keptS) || keptS < LEAST_KEPT_S || keptS > this.#limits.keptS) {
        refuse(
          'expires_after',
          `expires_after[seconds] must be a whole number from ${LEAST_KEPT_S} to ${this.#limits.keptS}.`,
        );
      }
      const id = await draft.keep({ filename: fileName(filename), purpose, keptS });
      return this.file(id, null);
    } catch (error) {
      await draft.drop();
      throw error;
    }
  }

  async files(owner: string, { purpose, order = 'desc', ...query }: FilesQuery): Promise<FileList> {
    const store = await this.#open();
    const own = store.files
      .entries()
      .filter(([, file]) => file.owner === owner && (purpose === undefined || file.purpose === purpose))
      .map(([id, file]) => fileObject(id, file));
    return paged(own, { ...query, isNewestFirst: order === 'desc', mostItems: 10_000, usual: 10_000 });
  }

  async file(id: string, owner: string | null): Promise<FileObject> {
    return fileObject(id, await this.#file(id, owner));
  }

  async content(id: string, owner: string): Promise<{ readonly path: string; readonly filename: string }> {
    const { filename } = await this.#file(id, owner);
    return { path: (await this.#open()).contentPath(id), filename };
  }

  async deleteFile(id: string, owner: string): Promise<DeletedFile> {
    await this.#file(id, owner);
    const store = await this.#open();
    const user = records(store).find(([, { isOver, batch }]) => !isOver && batchFileIds(batch).includes(id));
    if (user !== undefined) throw fail('file_in_use', { id, batch: user[0], param: 'id' });
    await store.deleteFile(id);
    return { id, object: 'file', deleted: true };
  }

  async create(body: BatchRequest, owner: string): Promise<Batch> {
    const windowMs = parseDuration(body.completion_window) ?? 0;
    if (!(windowMs >= LEAST_WINDOW_MS && windowMs <= this.#limits.keptS * 1000))
      refuse('completion_window', 'completion_window must be a duration from 1m to 30d, such as 24h.');
    const store = await this.#open();
    const file = await this.#file(body.input_file_id, owner, 'input_file_id');
    if (file.purpose !== 'batch')
      refuse('input_file_id', 'input_file_id must be a file that was sent with purpose batch.');
    store.requireBatchRoom(owner);
    const createdAt = store.nowS;
    const batch: Batch = {
      id: `batch_${randomBytes(16).toString('hex')}`,
      object: 'batch',
      endpoint: body.endpoint,
      errors: null,
      input_file_id: body.input_file_id,
      completion_window: body.completion_window,
      status: 'validating',
      output_file_id: null,
      error_file_id: null,
      created_at: createdAt,
      in_progress_at: null,
      expires_at: createdAt + Math.ceil(windowMs / 1000),
      finalizing_at: null,
      completed_at: null,
      failed_at: null,
      expired_at: null,
      cancelling_at: null,
      cancelled_at: null,
      request_counts: { total: 0, completed: 0, failed: 0 },
      metadata: body.metadata ?? null,
    };
    const outputKeptS = body.output_expires_after?.seconds ?? this.#limits.keptS;
    const record: BatchRecord = { schema: 1, owner, createdAt, isOver: false, batch, outputKeptS };
    await store.batches.put(batch.id, record);
    this.#wake(store);
    return batch;
  }

  async batches(owner: string, query: BatchesQuery): Promise<BatchList> {
    const store = await this.#open();
    const own = records(store)
      .filter(([, record]) => record.owner === owner)
      .map(([id, { batch }]) => this.#now(owner, id) ?? batch);
    return paged(own, { ...query, isNewestFirst: true, mostItems: 100, usual: 20 });
  }

  async batch(id: string, owner: string): Promise<Batch> {
    const { batch } = await this.#batch(id, owner);
    return this.#now(owner, id) ?? batch;
  }

  async cancel(id: string, owner: string): Promise<Batch> {
    const record = await this.#batch(id, owner);
    if (record.isOver) {
      const { status } = record.batch;
      throw fail('invalid_request', {
        param: 'id',
        message: `Batch ${id} is ${status} and cannot be cancelled; only one that is not over can.`,
      });
    }
    const running = this.#running.get(owner);
    const store = await this.#open();
    // A waiting batch is only marked here; its run ends it when its turn comes.
    await (running?.id === id ? running : new RunningBatch(record, this.#runPorts(store))).cancel();
    this.#wake(store);
    return this.batch(id, owner);
  }

  #now(owner: string, id: string): Batch | undefined {
    const running = this.#running.get(owner);
    return running?.id === id ? running.batch : undefined;
  }

  async #file(id: string, owner: string | null, param = 'id'): Promise<StoredFile> {
    const file = (await this.#open()).files.get(id);
    if (file === undefined || (owner !== null && file.owner !== owner))
      throw fail('file_absent', { id: id.slice(0, 128), param });
    return file;
  }

  async #batch(id: string, owner: string): Promise<BatchRecord> {
    const record = (await this.#open()).batches.get(id) as BatchRecord | undefined;
    if (record?.owner !== owner) throw fail('batch_not_found', { id: id.slice(0, 128), param: 'id' });
    return record;
  }

  #open(): Promise<BatchStore> {
    this.#store ??= this.#load().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  async #load(): Promise<BatchStore> {
    const { home, clock, log } = this.#ports;
    const store = await BatchStore.open(home, { clock, limits: this.#limits, log });
    await store.removeLeftovers(inUse(store));
    await this.#sweep(store);
    this.#wake(store);
    return store;
  }

  async #sweep(store: BatchStore): Promise<void> {
    await store.sweep(inUse(store)).catch((error: unknown) => this.#tell(error));
    if (!this.#isClosed)
      this.#ports.clock.after(SWEEP_MS, () => (this.#isClosed ? undefined : void this.#sweep(store)));
  }

  #runPorts(store: BatchStore) {
    const { clock, findRights } = this.#ports;
    if (this.#edge === null) throw new Error('batches were asked for before they were started');
    return { store, clock, findRights, edge: this.#edge, limits: this.#limits };
  }

  #wake(store: BatchStore): void {
    if (this.#isClosed) return;
    const open = records(store).filter(([, { isOver }]) => !isOver);
    for (const [, record] of open.toSorted(([, a], [, b]) => a.createdAt - b.createdAt)) {
      if (this.#running.has(record.owner)) continue;
      const running = new RunningBatch(record, this.#runPorts(store));
      this.#running.set(record.owner, running);
      const work = this.#run(store, running, record.owner).finally(() => this.#works.delete(work));
      this.#works.add(work);
    }
  }

  async #run(store: BatchStore, running: RunningBatch, owner: string): Promise<void> {
    const { log, clock } = this.#ports;
    log.info({ batch: running.id }, 'A batch begins.');
    try {
      await running.run();
      const { status, request_counts: counts } = running.batch;
      log.info({ batch: running.id, status, ...counts }, 'A batch leaves.');
      this.#running.delete(owner);
      this.#wake(store);
    } catch (error) {
      this.#tell(error);
      this.#cancelTimer = clock.after(AGAIN_MS, () => {
        this.#running.delete(owner);
        this.#wake(store);
      });
    }
  }

  #tell(error: unknown): void {
    this.#ports.log.warn({ error }, 'The batches cannot go on; they are tried again.');
  }
}

const records = (store: BatchStore) => store.batches.entries() as [string, BatchRecord][];

const batchFileIds = ({ input_file_id, output_file_id, error_file_id }: Batch): string[] =>
  [input_file_id, output_file_id, error_file_id].filter((id) => id !== null);

const inUse = (store: BatchStore): Set<string> =>
  new Set(records(store).flatMap(([, { isOver, batch }]) => (isOver ? [] : batchFileIds(batch))));

const fileObject = (
  id: string,
  { bytes, createdAt, expiresAt, filename, purpose }: StoredFile,
): FileObject => ({
  id,
  object: 'file',
  bytes,
  created_at: createdAt,
  expires_at: expiresAt,
  filename,
  purpose,
  status: 'processed',
});

/** Client-chosen names are for display only and never used as paths. */
function fileName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is left out here
  const safe = name.toWellFormed().replaceAll(/[\u0000-\u001f\u007f"\\/]/g, '_');
  return safe.slice(0, 255) || 'file';
}

interface Paging {
  readonly after?: string;
  readonly limit?: string;
  readonly isNewestFirst: boolean;
  readonly mostItems: number;
  readonly usual: number;
}

function paged<T extends { readonly id: string; readonly created_at: number }>(
  items: readonly T[],
  { after, limit, isNewestFirst, mostItems, usual }: Paging,
) {
  const sign = isNewestFirst ? -1 : 1;
  const ordered = items.toSorted((a, b) => sign * (a.created_at - b.created_at || (a.id < b.id ? -1 : 1)));
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const count = Math.min(Math.max(1, Number(limit ?? usual)), mostItems);
  const data = ordered.slice(from, from + count);
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + count < ordered.length,
  };
}

function refuse(param: string, message: string): never {
  throw fail('invalid_request', { param, message });
}
