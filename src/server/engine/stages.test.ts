import { describe, expect, it } from 'vitest';
import { generateJob } from '../../../test/support/engine/jobs.ts';
import type { Engine, LoadForecast, ModelTarget, Submission } from './ports.ts';
import { type EngineStage, stagedEngine } from './stages.ts';

const target = { modelId: 'm' } as ModelTarget;
const submission: Submission = { target, job: generateJob(), clientKey: '', numCtx: null, keepAliveMs: null };
const forecast = (slots: number): LoadForecast => ({
  slots,
  loaded: true,
  planned: [],
  window: null,
  evicts: [],
});

function rig() {
  const seen: string[] = [];
  const scheduler = {
    submit: ({ clientKey }, _signal, listener) => {
      seen.push(`scheduler ${clientKey}`);
      listener.onEnd(null);
    },
    plan: () => forecast(1),
    drain: async (graceMs) => void seen.push(`drain ${graceMs}`),
  } as Partial<Engine> as Engine;
  const stage = (name: string, more: Partial<EngineStage> = {}): EngineStage => ({
    take: (taken, signal, listener, next) =>
      next({ ...taken, clientKey: taken.clientKey + name }, signal, {
        onEvent: () => {},
        onEnd: (failure) => {
          seen.push(`end ${name}`);
          listener.onEnd(failure);
        },
      }),
    close: () => void seen.push(`close ${name}`),
    ...more,
  });
  return { seen, scheduler, stage };
}

const run = (engine: Engine): Promise<Error | null> =>
  new Promise((resolve) => {
    engine.submit(submission, new AbortController().signal, { onEvent: () => {}, onEnd: resolve });
  });

describe('the stages of an engine', () => {
  it('take a submission in their order, and hear of its end in the other', async () => {
    const { seen, scheduler, stage } = rig();
    await run(stagedEngine(scheduler, [stage('a'), stage('b')]));
    expect(seen).toEqual(['scheduler ab', 'end b', 'end a']);
  });

  it('may end a submission, which then goes no further', async () => {
    const { seen, scheduler, stage } = rig();
    const refusal = new Error('no');
    const refuses = stage('b', { take: (_, __, listener) => listener.onEnd(refusal) });
    expect(await run(stagedEngine(scheduler, [stage('a'), refuses, stage('c')]))).toBe(refusal);
    expect(seen).toEqual(['end a']);
  });

  it('plan where they say so, and end before the scheduler drains', async () => {
    const { seen, scheduler, stage } = rig();
    const doubles: EngineStage['plan'] = (asked, numCtx, next) => forecast(2 * next(asked, numCtx).slots);
    const engine = stagedEngine(scheduler, [stage('a'), stage('b', { plan: doubles }), stage('c')]);
    expect(engine.plan(target, null).slots).toBe(2);
    await engine.drain(7);
    expect(seen).toEqual(['close a', 'close b', 'close c', 'drain 7']);
  });
});
