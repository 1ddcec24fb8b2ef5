import { expect, it } from 'vitest';
import type { Engine, JobListener, Submission } from '../../engine/ports.ts';
import { createJobStops } from './job-stops.ts';

/** A stage over an engine that holds its jobs until they are aborted or ended by hand. */
function heldStops() {
  const stops = createJobStops();
  const ends = new Map<string, (failure: Error | null) => void>();
  const next: Engine['submit'] = ({ job }, signal, listener) => {
    ends.set(job.jobId, (failure) => listener.onEnd(failure));
    signal.addEventListener('abort', () => listener.onEnd(new Error('cancelled')));
  };
  /** Submits, and notes how the job ends. */
  const submit = (jobId: string, signal = new AbortController().signal): string[] => {
    const outcomes: string[] = [];
    const listener: JobListener = {
      onEvent: () => undefined,
      onEnd: (failure) => outcomes.push((failure as { code?: string } | null)?.code ?? String(failure)),
    };
    stops.take({ job: { jobId } } as Submission, signal, listener, next);
    return outcomes;
  };
  return { stop: (id: string) => stops.stop(id), submit, ends };
}

it('ends the job that is named as the engine shows it, once, and no other', () => {
  const { stop, submit } = heldStops();
  const [one, two] = [submit('req_a.one'), submit('req_a.two')];
  expect([stop('req_a.one'), stop('one'), stop('one'), stop('three')]).toEqual([false, true, false, false]);
  expect([one, two]).toEqual([['stopped_by_operator'], []]);
});

it('leaves a client that went, and a job that was complete before, as they are', () => {
  const { stop, submit, ends } = heldStops();
  const client = new AbortController();
  const gone = submit('gone', client.signal);
  client.abort();
  const done = submit('done');
  ends.get('done')?.(null);
  expect([stop('gone'), stop('done')]).toEqual([false, false]);
  expect([gone, done]).toEqual([['Error: cancelled'], ['null']]);
});
