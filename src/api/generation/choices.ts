/** Runs the `n` answers of one request as jobs of their own and merges their events into the one queue of the request. */
import { EventQueue } from '../../lib/base/event-queue.ts';
import type { GenerateJob } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import type { JobListener, Submission } from '../../engine/ports.ts';
import type { Service } from '../service.ts';

export interface ChoiceEvent {
  readonly index: number;
  readonly event: JobEvent;
}

export interface Generation {
  readonly submission: Omit<Submission, 'job'>;
  readonly jobs: readonly GenerateJob[];
}

/**
 * Submits every choice at once and hands out their events as they come. The first failure fails the whole request and
 * stops the other choices, as does a reader that leaves. The queue needs no bound but the one on the answers: the
 * context window.
 */
export function runChoices(
  service: Service,
  { submission, jobs }: Generation,
  signal: AbortSignal,
): AsyncIterable<ChoiceEvent> {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const merged = new EventQueue<ChoiceEvent>(() => stop.abort());
  let open = jobs.length;
  const listener = (index: number): JobListener => {
    let isDone = false;
    return {
      onEvent: (event) => {
        isDone = event.type === 'done';
        merged.push({ index, event });
      },
      onEnd: (failure) => {
        // An engine that falls silent has failed; its answer must not end as if it were complete.
        const silent = isDone ? null : new Error('an answer ended without a done event');
        const error = failure ?? silent;
        if (error !== null) {
          merged.fail(error);
          return stop.abort();
        }
        open -= 1;
        if (open === 0) merged.end();
      },
    };
  };
  jobs.forEach((job, index) => service.engine.submit({ ...submission, job }, both, listener(index)));
  return merged;
}
