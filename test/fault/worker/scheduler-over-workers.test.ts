import { expect, it } from 'vitest';
import { totalBytes } from '../../../src/server/engine/device-memory.ts';
import type { Engine, EngineObserver } from '../../../src/server/engine/ports.ts';
import type { JobEvent } from '../../../src/contract/job-event.ts';
import { fail, isSvcError } from '../../../src/lib/errors/svc-error.ts';
import { engineOver, submission, target } from '../../support/engine/scheduler-rig.ts';
import { backendOver, exists, never, outcome, pidOf, submit, textJob, types } from './worker-rig.ts';

/** With silence only, and with more of it than a busy machine causes in the job after the hung one. */
const patience = { heartbeatMs: 20, silenceMs: 1_000, stallMs: 600_000, stallFactor: 0 };

function codeOf(error: unknown): string | undefined {
  return isSvcError(error) ? error.code : undefined;
}

/** Aborts when the job says the first event of that type; resolves with how it ended. */
async function abortAt(engine: Engine, type: JobEvent['type'], reason?: string): Promise<string | undefined> {
  const abort = new AbortController();
  const { error } = await outcome(submit(engine, submission('m'), abort.signal), (event) => {
    if (event.type !== type) return;
    if (reason === undefined || (event.type === 'queued' && event.reason === reason)) abort.abort();
  });
  return codeOf(error);
}

it('a job loads its model, waits with a reason, runs, and leaves the model loaded', async () => {
  const engine = engineOver(backendOver('honest'));
  const { events, error } = await outcome(submit(engine, submission('m'), never));
  expect(error).toBeUndefined();
  expect(types(events)).toEqual(['queued', 'started', 'text', 'done']);
  expect(events[0]).toEqual({ type: 'queued', position: 1, reason: 'loading model m' });
  const again = await outcome(submit(engine, submission('m'), never));
  expect(types(again.events)).toEqual(['started', 'text', 'done']);
  expect(engine.residencies()).toMatchObject([{ modelId: 'm', state: 'ready', running: 0, queued: 0 }]);
  const pid = pidOf(engine.residencies()[0] ?? { facts: null });
  expect(await engine.unload('m')).toBe(true);
  expect(exists(pid)).toBe(false);
  expect(await engine.unload('m')).toBe(false);
});

it('a client that leaves while its model loads, while it waits, or while it runs frees its place', async () => {
  const engine = engineOver(backendOver('patient'), { limits: { numParallel: 1 } });
  expect(await abortAt(engine, 'queued', 'loading model m')).toBe('cancelled');
  expect(await abortAt(engine, 'started')).toBe('cancelled');
  const holder = new AbortController();
  const held = { end: Promise.resolve({}) };
  await new Promise<void>((resolve) => {
    held.end = outcome(submit(engine, submission('m'), holder.signal), (event) => {
      if (event.type === 'text') resolve();
    });
  });
  expect(await abortAt(engine, 'queued', 'waiting for a slot of model m')).toBe('cancelled');
  expect(engine.residencies()).toMatchObject([{ running: 1, queued: 0 }]);
  holder.abort();
  await held.end;
  // The slot is free again once the worker has let go, so this one starts.
  expect(await abortAt(engine, 'text')).toBe('cancelled');
});

it('a consumer that stops reading frees the slot as well', async () => {
  const engine = engineOver(backendOver('patient'), { limits: { numParallel: 1 } });
  for await (const event of submit(engine, submission('m'), never)) if (event.type === 'text') break;
  expect(await abortAt(engine, 'text')).toBe('cancelled');
});

it('a job whose client has gone before it is submitted is cancelled and loads nothing', async () => {
  const engine = engineOver(backendOver('honest'));
  const { error } = await outcome(submit(engine, submission('m'), AbortSignal.abort()));
  expect(codeOf(error)).toBe('cancelled');
  expect(engine.residencies()).toEqual([]);
});

it('a crash fails the running jobs of that model only, and the next job gets a new worker', async () => {
  const engine = engineOver(backendOver('crash-mid-stream'), { limits: { numParallel: 2 } });
  const bystander = outcome(submit(engine, submission('m'), never));
  const elsewhere = new AbortController();
  const other = outcome(submit(engine, submission('other'), elsewhere.signal), () => {});
  const crashed = await outcome(submit(engine, submission('m', 'crash'), never));
  expect(codeOf(crashed.error)).toBe('worker_crashed');
  expect(types(crashed.events).slice(-3)).toEqual(['started', 'text', 'text']);
  expect(codeOf((await bystander).error)).toBe('worker_crashed');
  expect(engine.residencies().map((residency) => residency.modelId)).toContain('other');
  expect(await abortAtOther(engine)).toContain('text');
  elsewhere.abort();
  expect(codeOf((await other).error)).toBe('cancelled');
});

/** What a fresh job of the crashed model says before its client leaves. */
async function abortAtOther(engine: Engine): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of submit(engine, submission('m'), never)) {
    seen.push(event.type);
    if (event.type === 'text') break;
  }
  return seen;
}

it('the same request that ends the worker twice is refused as poison, without reaching a worker again', async () => {
  const engine = engineOver(backendOver('crash-mid-stream'));
  const codes: (string | undefined)[] = [];
  let started = 0;
  for (let i = 0; i < 3; i += 1) {
    const { events, error } = await outcome(submit(engine, submission('m', 'crash'), never));
    started += types(events).includes('started') ? 1 : 0;
    codes.push(codeOf(error));
  }
  expect(codes).toEqual(['worker_crashed', 'poison_request', 'poison_request']);
  expect(started).toBe(2);
});

it('killing the worker from outside mid-stream, again and again, never turns into a refusal', async () => {
  const engine = engineOver(backendOver('patient'));
  for (let i = 0; i < 4; i += 1) {
    const { error } = await outcome(submit(engine, submission('m'), never), (event) => {
      if (event.type === 'text') process.kill(pidOf(engine.residencies()[0] ?? { facts: null }), 'SIGKILL');
    });
    expect(codeOf(error)).toBe('worker_crashed');
  }
});

it('a hung worker fails its job and the service goes on', async () => {
  const engine = engineOver(backendOver('hang', { limits: patience }));
  const hung = await outcome(submit(engine, submission('m', 'hang'), never));
  expect(codeOf(hung.error)).toBe('worker_hung');
  const next = await outcome(submit(engine, submission('m', 'fine'), never));
  expect(types(next.events)).toContain('done');
});

it('a model that kills its worker at load is reported, then set aside; another model is served', async () => {
  const engine = engineOver(backendOver('crash-on-load'), { limits: { loadBackoffMs: 1 } });
  const codes: (string | undefined)[] = [];
  for (let i = 0; i < 4; i += 1)
    codes.push(codeOf((await outcome(submit(engine, submission('m'), never))).error));
  expect(codes).toEqual(['load_failed', 'load_failed', 'load_failed', 'model_quarantined']);
  expect(codeOf((await outcome(submit(engine, submission('n'), never))).error)).toBe('load_failed');
});

it('a file that changed is refused by its own reason before any worker is told to load it', async () => {
  const engine = engineOver(backendOver('honest'));
  const changed = target('m', {
    verify: () => Promise.reject(fail('model_damaged', { model: 'm', reason: 'size differs' })),
  });
  const { error } = await outcome(submit(engine, { ...submission('m'), target: changed }, never));
  expect(codeOf(error)).toBe('model_damaged');
});

it('five hundred jobs against sixty-four places: each gets one end, the surplus a 429', async () => {
  const engine = engineOver(backendOver('honest'), { limits: { maxQueue: 64, numParallel: 4 } });
  await outcome(submit(engine, submission('m'), never));
  const all = await Promise.all(
    Array.from({ length: 500 }, () => outcome(submit(engine, submission('m'), never))),
  );
  const served = all.filter(({ error }) => error === undefined).length;
  const refused = all.filter(({ error }) => codeOf(error) === 'queue_full').length;
  expect([served, refused]).toEqual([68, 432]);
});

it('two models with room for one serve an alternating burst completely', async () => {
  const backend = backendOver('honest');
  let loads = 0;
  const counting = {
    load: (...args: Parameters<typeof backend.load>) => {
      loads += 1;
      return backend.load(...args);
    },
    memoryNeed: (...args: Parameters<typeof backend.memoryNeed>) => backend.memoryNeed(...args),
    close: () => backend.close(),
  };
  const engine = engineOver(counting, { limits: { maxLoadedModels: 1 } });
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, i) => outcome(submit(engine, submission(i % 2 === 0 ? 'a' : 'b'), never))),
  );
  expect(all.every(({ error }) => error === undefined)).toBe(true);
  expect(loads).toBe(2);
});

it('a plan tells what a load would take and whom it would evict, and changes nothing', async () => {
  const engine = engineOver(backendOver('honest'), { limits: { maxLoadedModels: 1 } });
  expect(engine.plan(target('m'), null)).toMatchObject({ loaded: false, evicts: [] });
  await outcome(submit(engine, submission('m'), never));
  expect(engine.plan(target('m'), 16)).toMatchObject({ loaded: true, evicts: [] });
  const other = engine.plan(target('n'), null);
  expect(other).toMatchObject({ loaded: false, evicts: ['m'] });
  expect(totalBytes(other.planned)).toBeGreaterThan(0);
  expect(engine.residencies().map((residency) => residency.modelId)).toEqual(['m']);
});

it('a drain lets running jobs end by themselves and leaves no process', async () => {
  const engine = engineOver(backendOver('slow'));
  const running = outcome(submit(engine, submission('m'), never));
  await started(engine);
  const pid = pidOf(engine.residencies()[0] ?? { facts: null });
  await engine.drain(60_000);
  expect(types((await running).events)).toContain('done');
  expect(exists(pid)).toBe(false);
  expect(codeOf((await outcome(submit(engine, submission('m'), never))).error)).toBe('draining');
});

it('at the deadline of a drain running jobs are ended and told why', async () => {
  const engine = engineOver(backendOver('patient'));
  const running = outcome(submit(engine, submission('m'), never));
  await started(engine);
  const pid = pidOf(engine.residencies()[0] ?? { facts: null });
  await engine.drain(0);
  expect(codeOf((await running).error)).toBe('draining');
  expect(exists(pid)).toBe(false);
});

it('an observer hears each job as its client does, refused and cancelled ones too', async () => {
  const heard: string[] = [];
  const observer: EngineObserver = {
    watchJob: ({ jobId }) => ({
      onEvent: ({ type }) => void heard.push(`${jobId} ${type}`),
      onEnd: (failure) => void heard.push(`${jobId} ${codeOf(failure) ?? 'complete'}`),
    }),
  };
  const engine = engineOver(backendOver('patient'), { observers: [observer] });
  const abort = new AbortController();
  const left = submission('m');
  await outcome(submit(engine, left, abort.signal), (event) => {
    if (event.type === 'text') abort.abort();
  });
  const gone = submission('m');
  await outcome(submit(engine, gone, AbortSignal.abort()));
  const id = left.job.jobId;
  expect(heard).toEqual([
    `${id} queued`,
    `${id} started`,
    `${id} text`,
    `${id} cancelled`,
    `${gone.job.jobId} cancelled`,
  ]);
});

it('a listener that aborts its other jobs when one is refused changes no decision under way', async () => {
  const engine = engineOver(backendOver('patient'), { limits: { maxQueue: 2, numParallel: 1 } });
  const stop = new AbortController();
  const one = (): Promise<string | undefined> =>
    new Promise((resolve) =>
      engine.submit(submission('m'), stop.signal, {
        onEvent: () => {},
        onEnd: (failure) => {
          stop.abort();
          resolve(codeOf(failure));
        },
      }),
    );
  const codes = await Promise.all(Array.from({ length: 8 }, one));
  expect(codes.filter((code) => code === 'queue_full')).toHaveLength(1);
  expect(codes.filter((code) => code === 'cancelled')).toHaveLength(7);
  expect(engine.residencies().every(({ queued, running }) => queued + running === 0)).toBe(true);
});

/** Resolves when a probe job beside the others has been started, so that the others have been too. */
async function started(engine: Engine): Promise<void> {
  const probe = submission('m', 'probe', { job: textJob('probe') });
  for await (const event of submit(engine, probe, never)) if (event.type === 'started') return;
}
