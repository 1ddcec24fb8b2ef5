/** Runs the `n` answers of one request as jobs of their own and merges their events. */
import { EventQueue } from '../../lib/base/event-queue.ts';
import type { GenerateJob } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import type { Submission } from '../../engine/ports.ts';
import type { Service } from '../service.ts';

export interface ChoiceEvent {
  readonly index: number;
  readonly event: JobEvent;
}

export interface Generation {
  readonly submission: Omit<Submission, 'job'>;
  readonly jobs: readonly GenerateJob[];
}

/** Events of all choices as they come. The first failure fails the whole request and stops the other choices. */
export async function* runChoices(
  service: Service,
  { submission, jobs }: Generation,
  signal: AbortSignal,
): AsyncGenerator<ChoiceEvent, void, void> {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const merged = new EventQueue<ChoiceEvent>();
  const pump = async (job: GenerateJob, index: number) => {
    let isDone = false;
    for await (const event of service.engine.submit({ ...submission, job }, both)) {
      merged.push({ index, event });
      isDone = event.type === 'done';
    }
    // An engine that falls silent has failed; its answer must not end as if it were complete.
    if (!isDone) throw new Error('an answer ended without a done event');
  };
  Promise.all(jobs.map(pump)).then(
    () => merged.end(),
    (error: unknown) => merged.fail(error),
  );
  try {
    yield* merged;
  } finally {
    // Whoever stops listening, or fails, must not leave the other choices decoding for nobody.
    stop.abort();
  }
}
