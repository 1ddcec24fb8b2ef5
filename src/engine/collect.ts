/** For callers that want a job's events all at once. */
import type { JobEvent } from '../contract/job-event.ts';
import type { JobListener } from './ports.ts';

/** Starts a job and resolves with all its events; rejects with its failure. */
export function collectEvents(start: (listener: JobListener) => void): Promise<JobEvent[]> {
  return new Promise((resolve, reject) => {
    const events: JobEvent[] = [];
    start({
      onEvent: (event) => void events.push(event),
      onEnd: (failure) => (failure === null ? resolve(events) : reject(failure)),
    });
  });
}

/** The first event of this type; throws where a job, which always has one, ended without it. */
export function requireEvent<T extends JobEvent['type']>(
  events: readonly JobEvent[],
  type: T,
): Extract<JobEvent, { type: T }> {
  const found = events.find((event): event is Extract<JobEvent, { type: T }> => event.type === type);
  if (found === undefined) throw new Error(`the worker ended a job without ${type}`);
  return found;
}
