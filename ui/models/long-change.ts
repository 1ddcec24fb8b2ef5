/** A pull, an import or a check of files: its progress while it runs, and its end. */
import { signal } from '@preact/signals';
import type { ErrorBody } from '../../src/wire/error.ts';
import type { PROGRESS_EVENTS } from '../../src/wire/operation/library.ts';
import { freshId } from '../parts/fresh-id.ts';
import { isAbort, Refusal, sentenceOf, type ServicePath } from '../service/client.ts';
import { framesOf } from '../service/frames.ts';
import { askAsPage } from '../service/page-token.ts';
import { refresh } from './models-state.ts';

export interface Progress {
  readonly status: string;
  readonly completed?: number;
  readonly total?: number;
  readonly file?: string;
}

export interface LongChange {
  readonly id: string;
  readonly place: string;
  readonly title: string;
  /** How it ended, if it ended well; absent: done. */
  readonly done?: string;
  readonly progress: Progress;
  /** The first count of bytes and its time: a resumed download begins in the middle. */
  readonly counted?: { readonly sinceMs: number; readonly bytes: number };
  /** Arguments for the same request again. */
  readonly start: Start;
  readonly end: 'running' | 'done' | 'stopped' | 'failed';
  readonly fault?: string;
  readonly installed?: string;
}

/** The latest first. */
export const changes = signal<readonly LongChange[]>([]);
const running = new Map<string, AbortController>();

export interface Start {
  readonly place: string;
  readonly title: string;
  readonly done?: string;
  readonly path: ServicePath;
  readonly body: object;
}

export async function begin(start: Start): Promise<void> {
  const { path, body, ...shown } = start;
  const id = freshId();
  const abort = new AbortController();
  running.set(id, abort);
  const change: LongChange = { id, ...shown, start, progress: { status: 'starting' }, end: 'running' };
  changes.value = [change, ...changes.value];
  try {
    await follow(id, await askAsPage(path, { body, signal: abort.signal }));
  } catch (error) {
    update(id, isAbort(error) ? { end: 'stopped' } : { end: 'failed', fault: sentenceOf(error) });
  } finally {
    running.delete(id);
    await refresh();
  }
}

export const stop = (id: string): void => running.get(id)?.abort();
export const forget = (id: string): void => {
  changes.value = changes.value.filter((change) => change.id !== id);
};

async function follow(id: string, response: Response): Promise<void> {
  for await (const { event, data } of framesOf(response)) {
    const name = event as keyof typeof PROGRESS_EVENTS;
    const said: unknown = JSON.parse(data);
    if (name === 'progress') progressed(id, said as Progress);
    if (name === 'error') throw new Refusal(200, said as ErrorBody, null);
    if (name === 'success') return end(id, said as { id: string; ok: boolean });
  }
  throw new Error('The connection was lost before this was finished.');
}

function end(id: string, { ok, id: installed }: { readonly ok: boolean; readonly id: string }): void {
  update(
    id,
    ok
      ? { end: 'done', installed }
      : {
          end: 'failed',
          fault: 'The files differ from the ones that were installed; install the model again.',
        },
  );
}

function progressed(id: string, progress: Progress): void {
  const known = changes.value.find((change) => change.id === id);
  const { completed } = progress;
  const isNew = completed !== undefined && (known?.counted?.bytes ?? Infinity) > completed;
  update(id, { progress, ...(isNew ? { counted: { sinceMs: Date.now(), bytes: completed } } : {}) });
}

/** Asks for the same again; what was fetched is not fetched twice. */
export function resume({ id, start }: LongChange): void {
  forget(id);
  void begin(start);
}

function update(id: string, part: Partial<LongChange>): void {
  changes.value = changes.value.map((change) => (change.id === id ? { ...change, ...part } : change));
}
