import { describe, expect, it } from 'vitest';
import { generateJob } from '../../../test/support/engine/jobs.ts';
import type { Engine } from '../../engine/ports.ts';
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
});
