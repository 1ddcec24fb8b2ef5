/**
 * One batch from its file to its end. Every step can be repeated: the logs hold the answers, and only lines without
 * one are sent to the engine.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../../lib/base/clock.ts';
import { catalogueEntry, mayRetry } from '../../../lib/errors/catalogue.ts';
import { fail, isFailure, isSvcError, type SvcError } from '../../../lib/errors/svc-error.ts';
import { writeJson } from '../../../lib/json/spelled-numbers.ts';
import { type BatchStore, newFileId, type StoredBatch } from '../../../store/batches/batch-store.ts';
import type { BatchLimits } from '../../../store/batches/limits.ts';
import { LineLog } from '../../../store/batches/lines.ts';
import type { Batch, BatchEndpoint, BatchError } from '../../../wire/batches.ts';
import type { LineEdge, FindRights } from './ports.ts';
import { type AskedLine, askedLines, isWrong } from './read-lines.ts';

export interface RunPorts {
  readonly store: BatchStore;
  readonly edge: LineEdge;
  readonly findRights: FindRights;
  readonly clock: Pick<Clock, 'after' | 'unixMs'>;
  readonly limits: BatchLimits;
}

export interface BatchRecord extends StoredBatch {
  readonly batch: Batch;
  readonly outputKeptS: number;
}

/** Concurrent lines: enough that no slot is idle, few enough to keep memory small. */
const AT_A_TIME = 8;
const MOST_ERRORS = 100;
const MOST_TRIES = 2;
const MOST_PAUSE_S = 60;
const RIGHTS_S = 30;

type Over = 'completed' | 'cancelled' | 'expired';

export class RunningBatch {
  readonly id: string;
  readonly #ports: RunPorts;
  #record: BatchRecord;
  readonly #stop = new AbortController();
  #over: Over = 'completed';
  #logs: { readonly output: LineLog; readonly error: LineLog } | null = null;
  readonly #done = new Set<number>();

  constructor(record: BatchRecord, ports: RunPorts) {
    this.id = record.batch.id;
    this.#record = record;
    this.#ports = ports;
  }

  get batch(): Batch {
    return this.#record.batch;
  }

  interrupt(): void {
    this.#over = 'completed';
    this.#stop.abort('interrupted');
  }

  async cancel(): Promise<void> {
    const { status } = this.batch;
    if (status !== 'validating' && status !== 'in_progress') return;
    await this.#change({ status: 'cancelling', cancelling_at: this.#nowS });
    this.#end('cancelled');
  }

  async run(): Promise<void> {
    if (this.batch.status === 'cancelling') this.#end('cancelled');
    const leftMs = this.batch.expires_at * 1000 - this.#ports.clock.unixMs();
    if (leftMs <= 0) this.#end('expired');
    const forget = this.#ports.clock.after(Math.max(0, leftMs), () => this.#end('expired'));
    try {
      if (this.batch.status === 'validating' && !(await this.#validate())) return;
      if (this.batch.status !== 'finalizing') await this.#answerAll();
      if (!this.#isInterrupted) await this.#finish();
    } finally {
      forget();
      await this.#closeLogs();
    }
  }

  get #nowS(): number {
    return this.#ports.store.nowS;
  }

  get #isInterrupted(): boolean {
    return this.#stop.signal.reason === 'interrupted';
  }

  #end(how: Over): void {
    if (this.#stop.signal.aborted) return;
    this.#over = how;
    this.#stop.abort(how);
  }

  async #change(members: Partial<Batch>, isOver = false): Promise<void> {
    this.#record = { ...this.#record, isOver, batch: { ...this.batch, ...members } };
    await this.#ports.store.batches.put(this.id, this.#record);
  }

  #lines() {
    const { store, edge } = this.#ports;
    const endpoint = this.batch.endpoint as BatchEndpoint;
    return askedLines(store.contentPath(this.batch.input_file_id), {
      endpoint,
      mostBytes: edge.mostBytes,
    });
  }

  async #validate(): Promise<boolean> {
    const errors: BatchError[] = [];
    const names = new Set<string>();
    let total = 0;
    for await (const line of this.#lines()) {
      if (this.#stop.signal.aborted) return !this.#isInterrupted;
      total += 1;
      if (isWrong(line)) errors.push(line);
      else if (names.has(customIdDigest(line.customId))) errors.push(twice(line));
      else names.add(customIdDigest(line.customId));
      if (total > this.#ports.limits.lines) errors.push(tooMany(this.#ports.limits.lines));
      if (total > this.#ports.limits.lines || errors.length >= MOST_ERRORS) break;
    }
    if (total === 0) errors.push(error('The file has no lines; send one request a line.', null));
    if (errors.length > 0) {
      const failed = {
        status: 'failed',
        failed_at: this.#nowS,
        errors: { object: 'list', data: errors },
      } as const;
      await this.#change(failed, true);
      return false;
    }
    if (this.batch.status !== 'validating') return true;
    await this.#change({
      status: 'in_progress',
      in_progress_at: this.#nowS,
      request_counts: { total, completed: 0, failed: 0 },
    });
    return true;
  }

  async #answerAll(): Promise<void> {
    const { store } = this.#ports;
    const counts = { completed: 0, failed: 0 };
    const open = (kind: 'output' | 'error', count: keyof typeof counts) =>
      LineLog.open(store.logPath(this.id, kind), (head) => {
        this.#done.add(resultLine(head));
        counts[count] += 1;
      });
    const output = await open('output', 'completed');
    this.#logs = { output, error: await open('error', 'failed') };
    this.#count(counts);
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    for await (const line of this.#lines()) {
      if (isWrong(line) || this.#done.has(line.number)) continue;
      if (this.#stop.signal.aborted) break;
      const work = this.#answer(line)
        .catch((thrown: unknown) => {
          failures.push(thrown);
          this.#stop.abort('interrupted');
        })
        .finally(() => running.delete(work));
      running.add(work);
      if (running.size >= AT_A_TIME) await Promise.race(running);
    }
    await Promise.all(running);
    if (failures.length > 0) throw failures[0];
    if (this.#over === 'expired' && !this.#isInterrupted) await this.#tellExpired();
  }

  #count({ completed = 0, failed = 0 }): void {
    const counts = this.batch.request_counts;
    // The log has the progress; writing the record as well would cost one more write per line.
    this.#record = {
      ...this.#record,
      batch: { ...this.batch, request_counts: { ...counts, completed, failed } },
    };
  }

  async #answer(line: AskedLine): Promise<void> {
    const requestId = `${this.id}-${line.number}`;
    for (let tries = 1; !this.#stop.signal.aborted; tries += 1) {
      const rights = await this.#ports.findRights(this.#record.owner);
      if (rights === null) {
        tries -= 1;
        await this.#pause(RIGHTS_S);
        continue;
      }
      try {
        const body = await this.#ports.edge.answer(this.batch.endpoint as BatchEndpoint, line.body, {
          requestId,
          clientKey: `batch ${this.#record.owner}`,
          owner: this.#record.owner,
          clientName: rights.name,
          isBackground: true,
          gate: rights.gate,
          signal: this.#stop.signal,
        });
        return await this.#write(line, { status_code: 200, request_id: requestId, body });
      } catch (thrown) {
        if (!isSvcError(thrown)) throw thrown;
        if (this.#stop.signal.aborted) return;
        const pauseS = pauseFor(thrown, tries);
        if (pauseS === null) return this.#refuse(line, thrown, requestId);
        if (!mayBeTheLine(thrown)) tries -= 1;
        await this.#pause(pauseS);
      }
    }
  }

  #refuse(line: AskedLine, error: SvcError, requestId: string): Promise<void> {
    const { status, body } = this.#ports.edge.refusal(error, requestId);
    return this.#write(line, { status_code: status, request_id: requestId, body }, 'error');
  }

  async #write(line: AskedLine, response: object, kind: 'output' | 'error' = 'output'): Promise<void> {
    const logs = this.#logs;
    if (logs === null) throw new Error('a line was answered before the logs were open');
    const { outputBytes } = this.#ports.limits;
    const text = lineText(this.id, line, { response, error: null });
    const isFull = logs.output.sizeBytes + logs.error.sizeBytes + text.length > outputBytes;
    const full = fail('files_full', { limit: 1, limitBytes: outputBytes });
    const failed = { code: 'output_full', message: full.message };
    if (isFull) await logs.error.add(lineText(this.id, line, { response: null, error: failed }));
    else await logs[kind].add(text);
    const { completed, failed: before } = this.batch.request_counts;
    const isFailed = isFull || kind === 'error';
    this.#count(isFailed ? { completed, failed: before + 1 } : { completed: completed + 1, failed: before });
    this.#done.add(line.number);
  }

  async #tellExpired(): Promise<void> {
    const expired = { code: 'batch_expired', message: 'The completion window of the batch was over before.' };
    let { failed } = this.batch.request_counts;
    const { completed } = this.batch.request_counts;
    for await (const line of this.#lines()) {
      if (isWrong(line) || this.#done.has(line.number)) continue;
      await this.#logs?.error.add(lineText(this.id, line, { response: null, error: expired }));
      failed += 1;
    }
    this.#count({ completed, failed });
  }

  async #closeLogs(): Promise<void> {
    const logs = this.#logs;
    this.#logs = null;
    await logs?.output.close();
    await logs?.error.close();
  }

  /** Records the names of the files before it creates them, so that a crash in between does not create duplicates. */
  async #finish(): Promise<void> {
    const how = this.#over;
    await this.#closeLogs();
    const { completed, failed } = this.batch.request_counts;
    if (this.batch.status !== 'finalizing') {
      await this.#change({
        status: 'finalizing',
        finalizing_at: this.#nowS,
        ...(how === 'completed' ? {} : { [`${how}_at`]: this.#nowS }),
        output_file_id: completed > 0 ? newFileId() : null,
        error_file_id: failed > 0 ? newFileId() : null,
      });
    }
    const { output_file_id: output, error_file_id: errors } = this.batch;
    await this.#adopt('output', output);
    await this.#adopt('error', errors);
    const status = this.batch.cancelled_at ? 'cancelled' : this.batch.expired_at ? 'expired' : 'completed';
    await this.#change({ status, ...(status === 'completed' ? { completed_at: this.#nowS } : {}) }, true);
  }

  async #adopt(kind: 'output' | 'error', id: string | null): Promise<void> {
    if (id === null) return;
    const { owner, outputKeptS: keptS } = this.#record;
    const filename = `${this.id}_${kind}.jsonl`;
    const { store } = this.#ports;
    await store.adopt(store.logPath(this.id, kind), id, { owner, filename, purpose: 'batch_output', keptS });
  }

  #pause(seconds: number): Promise<void> {
    const { signal } = this.#stop;
    if (seconds === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const over = (): void => {
        cancel();
        signal.removeEventListener('abort', over);
        resolve();
      };
      const cancel = this.#ports.clock.after(seconds * 1000, over);
      signal.addEventListener('abort', over, { once: true });
    });
  }
}

/** True if another attempt may fail the same way. Evictions and lack of room do not count as failures. */
const mayBeTheLine = (error: SvcError): boolean =>
  catalogueEntry(error.code).family === 'engine' || isFailure(error, 'worker_crashed', 'worker_hung');

function pauseFor(error: SvcError, tries: number): number | null {
  const { family } = catalogueEntry(error.code);
  if (family === 'cancelled') return 0;
  if (!mayRetry(error)) return null;
  if (mayBeTheLine(error) && tries >= MOST_TRIES) return null;
  const { retryAfterS = 1 } = error.detail as { readonly retryAfterS?: number };
  return Math.min(Math.max(1, retryAfterS), MOST_PAUSE_S);
}

/** The line number comes first, so that the log can find it without parsing the answer. */
const lineText = (batchId: string, { number, customId }: AskedLine, said: object): string =>
  writeJson({ id: `${batchId.replace('batch_', 'batch_req_')}_${number}`, custom_id: customId, ...said }) ??
  '';

const resultLine = (head: string): number =>
  Number(/^\{"id":"batch_req_[0-9a-f]+_(\d+)"/.exec(head)?.[1] ?? 0);

/** Custom ids may be long and numerous, so only their digests are kept. */
const customIdDigest = (customId: string): string => createHash('sha256').update(customId).digest('base64');

const error = (message: string, line: number | null, param: string | null = null): BatchError => ({
  code: 'invalid_request',
  message,
  param,
  line,
});

const twice = ({ number }: AskedLine): BatchError =>
  error(`Line ${number}: its custom_id was used before; give each line one of its own.`, number, 'custom_id');

const tooMany = (limit: number): BatchError =>
  error(`The file has more than ${limit} lines; send several files.`, limit + 1);
