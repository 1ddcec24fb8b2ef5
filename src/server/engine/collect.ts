import type { JobEvent } from '../../contract/job-event.ts';
import type { JobListener } from './ports.ts';

export function collectEvents(start: (listener: JobListener) => void): Promise<JobEvent[]> {
  return new Promise((resolve, reject) => {
    const events: JobEvent[] = [];
    start({
      onEvent: (event) => void events.push(event),
      onEnd: (failure) => (failure === null ? resolve(events) : reject(failure)),
    });
  });
}

/** Throws if a job ended without this event, which every such job must have. */
export function requireEvent<T extends JobEvent['type']>(
  events: readonly JobEvent[],
  type: T,
): Extract<JobEvent, { type: T }> {
  const found = events.find((event): event is Extract<JobEvent, { type: T }> => event.type === type);
  if (found === undefined) throw new Error(`the worker ended a job without ${type}`);
  return found;
}
