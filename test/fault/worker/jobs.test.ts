import { embedJob } from '../../support/engine/jobs.ts';
import { expect, it } from 'vitest';
import type { WorkerLimits } from '../../../src/server/engine/local/limits.ts';
import {
  backendOver,
  exists,
  keepingLog,
  loadFrom,
  never,
  outcome,
  pidOf,
  run,
  textJob,
  types,
} from './worker-rig.ts';

/** Short patience with silence alone, or with jobs that stand still alone: a busy machine may starve a child for a while. */
const impatient = {
  hang: { heartbeatMs: 20, silenceMs: 200, stallMs: 600_000, stallFactor: 0 },
  standstill: { heartbeatMs: 20, silenceMs: 600_000, stallMs: 400, stallFactor: 0 },
} as const satisfies Record<string, Partial<WorkerLimits>>;

it('an aborted job ends with cancelled once the child has let go of it', async () => {
  const model = await loadFrom(backendOver('patient'));
  const abort = new AbortController();
  const { events, error } = await outcome(run(model, textJob('x'), abort.signal), (event) => {
    if (event.type === 'text') abort.abort();
  });
  expect(types(events)).toEqual(['started', 'text']);
  expect(error).toMatchObject({ code: 'cancelled' });
});

it('a consumer that leaves cancels its job in the child and the worker serves on', async () => {
  const model = await loadFrom(backendOver('patient'));
  for await (const event of run(model, textJob('x'), never)) if (event.type === 'text') break;

  const abort = new AbortController();
  const { error } = await outcome(run(model, textJob('y'), abort.signal), () => abort.abort());
  expect(error).toMatchObject({ code: 'cancelled' });
});

it('a job that is aborted before it starts never reaches the child', async () => {
  const model = await loadFrom(backendOver('honest'));
  const { events, error } = await outcome(run(model, textJob('x'), AbortSignal.abort()));
  expect(events).toEqual([]);
  expect(error).toMatchObject({ code: 'cancelled' });
});

it('a native fault fails every open job of the worker, names the signal, and blames the worker itself', async () => {
  const log = keepingLog();
  const backend = backendOver('crash-mid-stream', { log });
  const model = await loadFrom(backend);
  const bystanders = [outcome(run(model, textJob('a'), never)), outcome(run(model, textJob('b'), never))];
  const culprit = await outcome(run(model, textJob('crash'), never));
  for (const { events, error } of [culprit, ...(await Promise.all(bystanders))]) {
    expect(types(events)).toEqual(['started', 'text', 'text']);
    expect(error).toMatchObject({
      code: 'worker_crashed',
      detail: { model: 'm', reason: 'signal SIGSEGV', outside: false },
    });
  }
  expect(await model.gone).toEqual({ reason: 'signal SIGSEGV' });
  const late = await outcome(run(model, textJob('late'), never));
  expect(late.error).toMatchObject({ code: 'worker_crashed' });
  const next = await loadFrom(backend);
  expect(pidOf(next)).not.toBe(pidOf(model));
});

it('SIGKILL mid-stream with several jobs open fails each, and is not blamed on them', async () => {
  const model = await loadFrom(backendOver('patient'));
  let streaming = 0;
  const all = Array.from({ length: 4 }, () =>
    outcome(run(model, textJob('x'), never), (event) => {
      if (event.type === 'text') streaming += 1;
      if (streaming === 4) process.kill(pidOf(model), 'SIGKILL');
    }),
  );
  for (const { events, error } of await Promise.all(all)) {
    expect(types(events)).toEqual(['started', 'text']);
    expect(error).toMatchObject({
      code: 'worker_crashed',
      detail: { reason: 'signal SIGKILL', outside: true },
    });
  }
});

it.each(['hang', 'standstill'] as const)(
  'a worker that stops moving (%s) is killed and its jobs fail',
  async (fault) => {
    const model = await loadFrom(backendOver('hang', { limits: impatient[fault] }));
    const { error } = await outcome(run(model, textJob(fault), never));
    expect(error).toMatchObject({ code: 'worker_hung', detail: { model: 'm' } });
    expect((await model.gone).reason).toBe(fault === 'hang' ? 'no heartbeat' : 'no progress');
    expect(exists(pidOf(model))).toBe(false);
  },
);

it.runIf(process.platform !== 'win32')('a stopped worker is killed and its jobs fail', async () => {
  const model = await loadFrom(backendOver('patient', { limits: impatient.hang }));
  const { error } = await outcome(run(model, textJob('x'), never), () =>
    process.kill(pidOf(model), 'SIGSTOP'),
  );
  expect(error).toMatchObject({ code: 'worker_hung' });
  expect((await model.gone).reason).toBe('no heartbeat');
});

it('a load that goes on for ever is given up', async () => {
  const backend = backendOver('hang-on-load', { limits: { loadMs: 100 } });
  await expect(loadFrom(backend)).rejects.toMatchObject({
    code: 'load_failed',
    detail: { reason: 'the worker exited: the load took too long' },
  });
});

it('a refused load carries the reason of the child and leaves no process behind', async () => {
  const backend = backendOver('load-failed');
  await expect(loadFrom(backend)).rejects.toMatchObject({
    code: 'load_failed',
    detail: { model: 'm', reason: 'no tensors' },
  });
});

it.each([
  'junk',
  'untyped',
  'unknown type',
  'wrong field',
  'unknown job',
  'duplicate done',
  'event after done',
  'oversize',
  'flood',
  'queued from a child',
  'vector of strings',
  'second load',
  'pong from the future',
])('a worker that breaks the protocol (%s) is ended and its open jobs fail', async (breach) => {
  const model = await loadFrom(backendOver('bad-ipc'));
  const bystander = outcome(run(model, textJob('endless'), never));
  const { error } = await outcome(run(model, textJob(breach), never));
  // The breach may follow an honest end of its own job; then that job is served and the others are not.
  if (breach !== 'duplicate done' && breach !== 'event after done') {
    expect(error).toMatchObject({
      code: 'worker_crashed',
      detail: { reason: 'it sent an invalid message' },
    });
  }
  expect((await bystander).error).toMatchObject({ code: 'worker_crashed' });
  expect(await model.gone).toEqual({ reason: 'it sent an invalid message' });
});

const overflow = { promptTokens: 900, numCtx: 512 };
const unusable = { reason: expect.stringContaining('its detail is not that of the code') };
const unknown = { reason: expect.stringContaining('unknown code of a worker') };
it.each([
  [
    'a member too many',
    'context_length_exceeded',
    { ...overflow, reason: { toString: 5 } },
    'context_length_exceeded',
    { ...overflow, model: 'm' },
  ],
  [
    'a member of another type',
    'context_length_exceeded',
    { ...overflow, promptTokens: '900' },
    'internal',
    unusable,
  ],
  ['a member too few', 'context_length_exceeded', { numCtx: 512 }, 'internal', unusable],
  [
    'a model that it was not asked for',
    'load_failed',
    { reason: 'r', model: 'another' },
    'load_failed',
    { reason: 'r', model: 'm' },
  ],
  [
    'a long reason',
    'load_failed',
    { reason: 'x'.repeat(10_000) },
    'load_failed',
    { reason: 'x'.repeat(2_000), model: 'm' },
  ],
  ['a code that no worker has', 'unauthorized', {}, 'internal', unknown],
  ['no code of the catalogue', 'no_such_code', { reason: 'r' }, 'internal', unknown],
  ['a name of every object', '__proto__', {}, 'internal', unknown],
])(
  'a failure with %s (%s) is believed only as far as it fits its code',
  async (_, code, detail, expected, kept) => {
    const model = await loadFrom(backendOver('odd-failure'));
    const said = JSON.stringify({ code, detail });
    const { error } = await outcome(run(model, textJob(said), never));
    expect([Reflect.get(error as object, 'code'), Reflect.get(error as object, 'detail')]).toEqual([
      expected,
      kept,
    ]);
    expect((await outcome(run(model, textJob(said), never))).error).toMatchObject({ code: expected });
  },
);

it('a second job of an id that is open is refused, and the first keeps its events', async () => {
  const model = await loadFrom(backendOver('patient'));
  const abort = new AbortController();
  const job = textJob('x');
  let second: ReturnType<typeof outcome> | undefined;
  const first = await outcome(run(model, job, abort.signal), (event) => {
    if (event.type === 'text') second = outcome(run(model, job, never)).finally(() => abort.abort());
  });
  expect(types(first.events)).toEqual(['started', 'text']);
  expect(first.error).toMatchObject({ code: 'cancelled' });
  expect(String((await second)?.error)).toContain('is open already');
});

it('an embedding vector crosses as numbers of 32 bits', async () => {
  const model = await loadFrom(backendOver('embedder'));
  const { events } = await outcome(run(model, embedJob({ inputs: ['a', 'b'] }), never));
  expect(types(events)).toEqual(['embedding', 'embedding', 'embedded']);
  expect(events[1]).toMatchObject({ index: 1, vector: new Float32Array([1, 0.5]) });
});
