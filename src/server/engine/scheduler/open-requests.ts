import type { Clock } from '../../../lib/base/clock.ts';
import type { SvcError } from '../../../lib/errors/svc-error.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import type { JobListener, Submission } from '../ports.ts';

export interface OpenRequest {
  readonly submission: Submission;
  readonly listeners: readonly JobListener[];
  /** Aborts at the worker; the client's own signal may fire before the job has a worker. */
  readonly stop: AbortController;
  readonly forgetSignal: () => void;
  begun: boolean;
}

interface Opening extends Pick<OpenRequest, 'submission' | 'listeners'> {
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
}

export class OpenRequests {
  readonly #requests = new Map<number, OpenRequest>();
  #onIdle: (() => void) | undefined;

  open(seq: number, { submission, listeners, signal, onAbort }: Opening): void {
    signal.addEventListener('abort', onAbort, { once: true });
    this.#requests.set(seq, {
      submission,
      listeners,
      stop: new AbortController(),
      forgetSignal: () => signal.removeEventListener('abort', onAbort),
      begun: false,
    });
  }

  get(seq: number): OpenRequest | undefined {
    return this.#requests.get(seq);
  }

  tell(seq: number, event: JobEvent): void {
    const listeners = this.#requests.get(seq)?.listeners ?? [];
    for (const listener of listeners) listener.onEvent(event);
  }

  room(seq: number): Promise<void> | undefined {
    return this.#requests.get(seq)?.listeners.at(-1)?.room?.();
  }

  settle(seq: number, error: SvcError | null): void {
    const request = this.#requests.get(seq);
    if (request === undefined) return;
    this.#requests.delete(seq);
    request.forgetSignal();
    notifyEnd(request.listeners, error);
    if (this.#requests.size === 0) this.#onIdle?.();
  }

  async idle(clock: Clock, graceMs: number): Promise<void> {
    if (this.#requests.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(graceMs, resolve);
      this.#onIdle = () => {
        cancel();
        resolve();
      };
    });
  }

  stopAll(error: SvcError): void {
    for (const [seq, request] of this.#requests) {
      this.settle(seq, error);
      request.stop.abort();
    }
  }
}

export function notifyEnd(listeners: readonly JobListener[], failure: SvcError | null): void {
  for (const listener of listeners) listener.onEnd(failure);
}
