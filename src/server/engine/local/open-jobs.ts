/**
 * Jobs that a child runs, each with its listener. A job stays open until the child has sent its final event,
 * cancelled or not: only then is its sequence free. So an event of a job that is not open breaks the protocol.
 */
import { FINAL_EVENTS, type JobEvent } from '../../../contract/job-event.ts';
import type { SvcError } from '../../../lib/errors/svc-error.ts';
import type { JobListener } from '../ports.ts';

export class OpenJobs {
  readonly #listeners = new Map<string, JobListener>();
  readonly #onClosed: (jobId: string) => void;

  constructor(onClosed: (jobId: string) => void) {
    this.#onClosed = onClosed;
  }

  get size(): number {
    return this.#listeners.size;
  }

  has(jobId: string): boolean {
    return this.#listeners.has(jobId);
  }

  open(jobId: string, listener: JobListener): void {
    this.#listeners.set(jobId, listener);
  }

  deliver(jobId: string, event: JobEvent): boolean {
    const listener = this.#listeners.get(jobId);
    if (listener === undefined) return false;
    listener.onEvent(event);
    // The listener may have ended the worker and with it the job.
    if (FINAL_EVENTS.has(event.type)) this.#close(jobId, null);
    return true;
  }

  fail(jobId: string, error: SvcError): boolean {
    return this.#close(jobId, error);
  }

  failAll(error: SvcError): void {
    for (const jobId of this.#listeners.keys()) this.#close(jobId, error);
  }

  #close(jobId: string, failure: SvcError | null): boolean {
    const listener = this.#listeners.get(jobId);
    if (listener === undefined) return false;
    this.#listeners.delete(jobId);
    this.#onClosed(jobId);
    listener.onEnd(failure);
    return true;
  }
}
