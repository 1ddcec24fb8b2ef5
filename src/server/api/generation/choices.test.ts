import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { generateJob } from '../../../../test/support/engine/jobs.ts';
import type { Engine, JobListener } from '../../engine/ports.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import { type Choices, runChoices } from './choices.ts';

describe('runChoices', () => {
  it('stops the choices before one that cannot be submitted, and fails', async () => {
    const signals: AbortSignal[] = [];
    const engine: Pick<Engine, 'submit'> = {
      submit: (_submission, signal) => {
        if (signals.length === 2) throw new Error('no more');
        signals.push(signal);
      },
    };
    const jobs = [generateJob(), generateJob(), generateJob()];
    const events = runChoices(
      engine,
      { submission: {}, jobs } as unknown as Choices,
      new AbortController().signal,
    );
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    await expect(events[Symbol.asyncIterator]().next()).rejects.toThrow('no more');
  });

  it.each<[string, (listener: JobListener, events: AsyncIterator<unknown>) => unknown]>([
    [
      'its end',
      (listener) => {
        listener.onEvent({ type: 'done' } as JobEvent);
        listener.onEnd(null);
      },
    ],
    ['a failure', (listener) => listener.onEnd(new Error('broken'))],
    ['its reader has left', (_, events) => events.return?.()],
  ])('listens to nobody after %s', async (_, finish) => {
    const listeners: JobListener[] = [];
    const engine: Pick<Engine, 'submit'> = { submit: (_submission, _signal, each) => listeners.push(each) };
    const { signal } = new AbortController();
    const choices = { submission: {}, jobs: [generateJob()] } as unknown as Choices;
    const events = runChoices(engine, choices, signal)[Symbol.asyncIterator]();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await finish(listeners[0] as JobListener, events);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
