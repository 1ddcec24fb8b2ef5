/**
 * The jobs that a child runs, each with the queue that its consumer reads. A job stays open until the child has said
 * its last word on it, cancelled or not: only then is its sequence free. So any word about a job that is not open
 * is a breach of the protocol.
 */
import { EventQueue } from '../../lib/base/event-queue.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import type { SvcError } from '../../lib/errors/svc-error.ts';

const lastWords = new Set<JobEvent['type']>(['done', 'embedded', 'explained']);

export class OpenJobs {
  readonly #queues = new Map<string, EventQueue<JobEvent>>();
  readonly #onClosed: (jobId: string) => void;

  constructor(onClosed: (jobId: string) => void) {
    this.#onClosed = onClosed;
  }

  get size(): number {
    return this.#queues.size;
  }

  has(jobId: string): boolean {
    return this.#queues.has(jobId);
  }

  open(jobId: string, onAbandon: () => void): AsyncIterable<JobEvent> {
    // Two jobs of one id would get each other's events.
    if (this.#queues.has(jobId))
      throw new Error(`the job ${jobId} is open already; give each job its own id`);
    const queue = new EventQueue<JobEvent>(onAbandon);
    this.#queues.set(jobId, queue);
    return queue;
  }

  /** False when no such job is open. */
  deliver(jobId: string, event: JobEvent): boolean {
    const queue = this.#queues.get(jobId);
    if (queue === undefined) return false;
    queue.push(event);
    if (lastWords.has(event.type)) {
      this.#close(jobId);
      queue.end();
    }
    return true;
  }

  /** False when no such job is open. */
  fail(jobId: string, error: SvcError): boolean {
    const queue = this.#queues.get(jobId);
    if (queue === undefined) return false;
    this.#close(jobId);
    queue.fail(error);
    return true;
  }

  failAll(error: SvcError): void {
    for (const jobId of this.#queues.keys()) this.fail(jobId, error);
  }

  #close(jobId: string): void {
    this.#queues.delete(jobId);
    this.#onClosed(jobId);
  }
}
