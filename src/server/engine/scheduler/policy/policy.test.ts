import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fail } from '../../../../lib/errors/svc-error.ts';
import { mib, modelTarget, World } from '../../../../../test/support/engine/scheduler-world.ts';

const a = modelTarget('a', 100);
const b = modelTarget('b', 100);
const c = modelTarget('c', 100);
/** One such model with four sequences is planned with about 305 MiB. */
const forOne = 400 * mib;
const forTwo = 700 * mib;
const plenty = 64_000 * mib;

/** A world in which the model is loaded and idle. */
function warm(world: World, target = a, over: Parameters<World['submit']>[1] = {}): World {
  const seq = world.submit(target, over);
  world.turnOver();
  world.turnOver();
  world.finish(seq, true);
  return world;
}

it('a job waits for the load of its model, then starts; a second one finds it loaded', () => {
  const world = new World({}, plenty);
  const first = world.submit(a);
  expect(world.state(first)).toBe('queued');
  expect(world.notified.get(first)).toBe('1: loading model a');
  world.turnOver();
  expect(world.state(first)).toBe('running');
  const second = world.submit(a);
  expect(world.state(second)).toBe('running');
  expect(world.notified.has(second)).toBe(false);
  expect(world.loads).toBe(1);
});

it('more jobs than slots wait with position and reason, and move up', () => {
  const world = warm(new World({ numParallel: 1 }, plenty));
  const seqs = [1, 2, 3].map(() => world.submit(a));
  expect(seqs.map((seq) => world.notified.get(seq))).toEqual([
    undefined,
    '1: waiting for a slot of model a',
    '2: waiting for a slot of model a',
  ]);
  world.finish(seqs[0] ?? 0, true);
  world.advance(1_000);
  expect(world.notified.get(seqs[2] ?? 0)).toBe('1: waiting for a slot of model a');
});

it('a client with one job is next after the running ones, however many another has queued', () => {
  const world = warm(new World({ numParallel: 1 }, plenty));
  const flood = Array.from({ length: 20 }, () => world.submit(a, { client: 'flood' }));
  const polite = world.submit(a, { client: 'polite' });
  world.advance(1_000);
  expect(world.notified.get(polite)).toBe('1: waiting for a slot of model a');
  world.finish(flood[0] ?? 0, true);
  expect(world.state(polite)).toBe('running');
});

it('turns are shared by work: a call that costs ten lets the other client have ten', () => {
  const world = warm(new World({ numParallel: 1 }, plenty));
  const heavy = [1, 2].map(() => world.submit(a, { client: 'heavy', cost: 10 }));
  const light = Array.from({ length: 12 }, () => world.submit(a, { client: 'light' }));
  const order: number[] = [];
  while (world.running().length > 0) {
    for (const { seq } of world.running()) {
      order.push(seq);
      world.finish(seq, true);
    }
  }
  // The first heavy call was running already; ten light ones pass before the second.
  expect(order.indexOf(heavy[1] ?? 0)).toBe(11);
  expect(order.length).toBe(heavy.length + light.length);
});

it('an endless row of new clients overtakes a waiting job only so often', () => {
  const world = warm(new World({ numParallel: 1, maxOvertakes: 5 }, plenty));
  world.submit(a, { client: 'old' });
  const waiting = world.submit(a, { client: 'old' });
  for (let i = 0; i < 6; i += 1) {
    world.submit(a, { client: `new ${i}` });
    world.finish(world.running()[0]?.seq ?? 0, true);
  }
  expect(world.state(waiting)).toBe('running');
});

it('a full queue refuses with a whole number of seconds to wait', () => {
  const world = warm(new World({ maxQueue: 3, numParallel: 1 }, plenty));
  const seqs = Array.from({ length: 5 }, () => world.submit(a));
  expect(seqs.map((seq) => world.state(seq))).toEqual([
    'running',
    'queued',
    'queued',
    'queued',
    'queue_full',
  ]);
  const { limit, retryAfterS } = world.failure(seqs[4] ?? 0, 'queue_full').detail;
  expect(limit).toBe(3);
  expect(Number.isInteger(retryAfterS) && retryAfterS >= 1).toBe(true);
  expect(retryAfterS).toBeLessThanOrEqual(60);
});

it('the time to wait grows with the measured time of jobs, up to a minute', () => {
  const world = warm(new World({ maxQueue: 1, numParallel: 1 }, plenty));
  for (let i = 0; i < 30; i += 1) {
    const seq = world.submit(a);
    world.advance(20_000);
    world.finish(seq, true);
  }
  world.submit(a);
  world.submit(a);
  const refused = world.submit(a);
  const { retryAfterS } = world.failure(refused, 'queue_full').detail;
  expect(retryAfterS).toBeGreaterThan(30);
  expect(retryAfterS).toBeLessThanOrEqual(60);
});

it('a queue that one client filled makes room for another at the expense of the first', () => {
  const world = warm(new World({ maxQueue: 4, numParallel: 1 }, plenty));
  const flood = Array.from({ length: 5 }, () => world.submit(a, { client: 'flood' }));
  const other = world.submit(a, { client: 'other' });
  expect(world.state(other)).toBe('queued');
  expect(world.state(flood[4] ?? 0)).toBe('queue_full');
  expect(world.state(flood[3] ?? 0)).toBe('queued');
});

it('without any queue a model can still be loaded by its first job', () => {
  const world = new World({ maxQueue: 0, numParallel: 1 }, plenty);
  const first = world.submit(a);
  expect(world.state(first)).toBe('queued');
  expect(world.state(world.submit(a))).toBe('queue_full');
  world.turnOver();
  expect(world.state(first)).toBe('running');
  expect(world.state(world.submit(a))).toBe('queue_full');
});

it('an idle model leaves after its keep-alive and not before', () => {
  const world = warm(new World({ keepAliveMs: 10_000 }, plenty));
  world.advance(9_999);
  expect(world.models('ready')).toEqual(['a']);
  world.advance(1);
  expect(world.models('ending')).toEqual(['a']);
});

it('the keep-alive timer never ends a model that got a job in the meantime', () => {
  const world = warm(new World({ keepAliveMs: 10_000 }, plenty));
  world.advance(9_999);
  const seq = world.submit(a);
  world.advance(60_000);
  expect(world.models('ready')).toEqual(['a']);
  world.finish(seq, true);
  world.advance(10_000);
  expect(world.models('ending')).toEqual(['a']);
});

it.each([
  [0, 0, 'ending'],
  [1_000, 1_000, 'ending'],
  [1_000, 999, 'ready'],
  [Number.POSITIVE_INFINITY, 10 ** 9, 'ready'],
] as const)(
  'a job that asks to keep its model %d ms is obeyed (after %d ms: %s)',
  (keepAliveMs, ms, state) => {
    const world = warm(new World({}, plenty), a, { keepAliveMs });
    world.advance(ms);
    expect(world.models(state)).toEqual(['a']);
  },
);

it('keep-alive 0 does not unload a model that others wait for or use', () => {
  const world = warm(new World({ numParallel: 1 }, plenty));
  const last = world.submit(a, { keepAliveMs: 0 });
  const waiting = world.submit(a);
  world.finish(last, true);
  expect(world.state(waiting)).toBe('running');
  expect(world.models('ready')).toEqual(['a']);
});

it('the idle model that was used least recently makes room, and only as many go as must', () => {
  const world = warm(warm(new World({}, forTwo)), b);
  world.advance(10);
  warm(world, a);
  const seq = world.submit(c);
  expect(world.models('ending')).toEqual(['b']);
  expect(world.models('ready')).toEqual(['a']);
  world.turnOver();
  world.turnOver();
  expect(world.state(seq)).toBe('running');
});

it('a busy model is not evicted: the other waits with the reason, then gets its turn', () => {
  const world = warm(new World({}, forOne));
  const busy = world.submit(a);
  const waiting = world.submit(b);
  expect(world.notified.get(waiting)).toBe('1: waiting for memory');
  world.advance(60_000);
  expect(world.models('ready')).toEqual(['a']);
  world.finish(busy, true);
  world.turnOver();
  world.turnOver();
  expect(world.state(waiting)).toBe('running');
});

it('a request that arrives while its model is being evicted waits and is served by a new load', () => {
  const world = warm(new World({}, forOne));
  const other = world.submit(b);
  expect(world.models('ending')).toEqual(['a']);
  const late = world.submit(a);
  expect(world.notified.get(late)).toBe('1: waiting for model a to end before it is loaded again');
  world.settleAll();
  expect([world.state(other), world.state(late)]).toEqual(['done', 'done']);
});

it('the number of loaded models is bounded when it is set', () => {
  const world = warm(new World({ maxLoadedModels: 1 }, plenty));
  const seq = world.submit(b);
  expect(world.models('ending')).toEqual(['a']);
  expect(world.models('loading')).toEqual([]);
  world.turnOver();
  world.turnOver();
  expect(world.state(seq)).toBe('running');
});

it('a model that can never fit is refused with both numbers, before any load and without evicting others', () => {
  const world = warm(new World({}, forOne));
  const seq = world.submit(modelTarget('huge', 100_000));
  expect(world.state(seq)).toBe('out_of_memory');
  const { reason } = world.failure(seq, 'out_of_memory').detail;
  const [, needBytes, freeBytes] = /^it needs about (\d+) bytes, (\d+) are free$/.exec(reason) ?? [];
  expect(Number(needBytes)).toBeGreaterThan(100_000 * mib);
  expect(Number(freeBytes)).toBeLessThanOrEqual(forOne);
  expect(world.models('ready')).toEqual(['a']);
});

it.each([
  // Weights and process 265 MiB, 10 MiB per sequence of 1024 tokens.
  [64_000, { numCtx: 1_024, slots: 8 }],
  [400, { numCtx: 1_024, slots: 4 }],
  [290, { numCtx: 1_024, slots: 2 }],
  [271, { numCtx: 512, slots: 1 }],
])('with %d MiB the plan is %o', (capacityMib, plan) => {
  const world = new World({}, capacityMib * mib);
  world.submit(a);
  expect(world.order('a').plan).toMatchObject(plan);
});

it('the number of sequences can be pinned', () => {
  const world = new World({ numParallel: 16 }, plenty);
  world.submit(a);
  expect(world.order('a').plan.slots).toBe(16);
});

it('a window is granted up to what the model was trained for, whatever is asked', () => {
  const world = new World({}, plenty);
  world.submit(a, { numCtx: 2 ** 31 - 1 });
  expect(world.order('a').plan.numCtx).toBe(8_192);
});

it('a smaller window reuses the loaded one; a larger one reloads once the model is idle', () => {
  const world = warm(new World({}, plenty));
  const small = world.submit(a, { numCtx: 16 });
  expect(world.state(small)).toBe('running');
  const large = world.submit(a, { numCtx: 4_096 });
  const meanwhile = world.submit(a);
  expect([world.state(large), world.state(meanwhile)]).toEqual(['queued', 'running']);
  world.finish(small, true);
  world.finish(meanwhile, true);
  world.turnOver();
  expect(world.order('a').plan.numCtx).toBe(4_096);
  world.turnOver();
  expect(world.state(large)).toBe('running');
  expect(world.state(world.submit(a))).toBe('running');
  expect(world.loads).toBe(2);
});

it('a larger window than memory allows is not tried again by the next request for it', () => {
  const world = warm(new World({}, 320 * mib), a, { numCtx: 8_192 });
  expect(world.order('a').plan.numCtx).toBeLessThan(8_192);
  expect(world.state(world.submit(a, { numCtx: 8_192 }))).toBe('running');
  expect(world.loads).toBe(1);
});

it('a model whose file was replaced is loaded anew', () => {
  const world = warm(new World({}, plenty));
  world.submit({ ...a, revision: 'a-2' });
  world.turnOver();
  expect(world.order('a').target.revision).toBe('a-2');
});

it('one frozen job runs beside the shared slots, a second one waits', () => {
  const world = warm(new World({ numParallel: 1 }, plenty));
  const jobs = [
    world.submit(a),
    world.submit(a, { lane: 'frozen' }),
    world.submit(a, { lane: 'frozen' }),
    world.submit(a),
  ];
  expect(jobs.map((seq) => world.state(seq))).toEqual(['running', 'running', 'queued', 'queued']);
  world.finish(jobs[1] ?? 0, true);
  expect(jobs.map((seq) => world.state(seq))).toEqual(['running', 'done', 'running', 'queued']);
});

it('light jobs run at once beside full slots, in whatever window the model is loaded with', () => {
  const world = warm(new World({ numParallel: 1 }, plenty), a);
  const jobs = [world.submit(a), world.submit(a), world.submit(a, { lane: 'light', numCtx: 32_768 })];
  expect(jobs.map((seq) => world.state(seq))).toEqual(['running', 'queued', 'running']);
  expect(world.loads).toBe(1);
});

it('a light job leaves the keep-alive as the last answer set it', () => {
  const world = warm(new World({}, plenty), a, { keepAliveMs: Number.POSITIVE_INFINITY });
  world.finish(world.submit(a, { lane: 'light' }), true);
  expect(world.policy.state.models.get('a')?.residency?.keepAliveMs).toBe(Number.POSITIVE_INFINITY);
});

it('a failed load fails all that waited for it with its reason, and nobody else', () => {
  const world = warm(new World({}, plenty), b);
  const seqs = [world.submit(a), world.submit(a)];
  const other = world.submit(b);
  world.loadFail(world.workerOf('a'), fail('load_failed', { model: 'a', reason: 'no tensors' }));
  expect(seqs.map((seq) => world.failure(seq, 'load_failed').detail.reason)).toEqual([
    'no tensors',
    'no tensors',
  ]);
  expect(world.state(other)).toBe('running');
});

it('after three failed loads with growing pauses a model is set aside for a while, others are not', () => {
  const world = new World({}, plenty);
  const pauses: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    const fromMs = world.now;
    world.submit(a);
    while (world.models('loading').length === 0) world.advance(100);
    pauses.push(world.now - fromMs);
    world.loadFail(world.workerOf('a'), fail('load_failed', { model: 'a', reason: 'abort' }));
  }
  expect(pauses).toEqual([0, 500, 1_000]);
  const refused = world.submit(a);
  expect(world.errors.get(refused)).toMatchObject({
    code: 'model_quarantined',
    detail: { model: 'a', reason: 'abort', retryAfterS: 60 },
  });
  expect(world.state(world.submit(b))).toBe('queued');
  world.advance(60_000);
  const again = world.submit(a);
  world.turnOver();
  expect(world.state(again)).toBe('running');
});

it.each(['native_unavailable', 'files_changed', 'model_damaged'] as const)(
  '%s does not set the model aside',
  (code) => {
    const world = new World({}, plenty);
    for (let i = 0; i < 5; i += 1) {
      const seq = world.submit(a);
      world.loadFail(world.workerOf('a'), fail(code, { model: 'a', reason: 'x' }));
      expect(world.state(seq)).toBe(code);
    }
  },
);

it('a load that runs out of memory is tried once more after idle models made room', () => {
  const world = warm(new World({}, plenty), b);
  const seq = world.submit(a);
  world.loadFail(world.workerOf('a'), fail('out_of_memory', { model: 'a', reason: 'no context' }));
  expect(world.models('ending')).toEqual(['b']);
  expect(world.state(seq)).toBe('queued');
  world.turnOver();
  world.advance(500);
  world.loadFail(world.workerOf('a'), fail('out_of_memory', { model: 'a', reason: 'no context' }));
  expect(world.state(seq)).toBe('out_of_memory');
});

it('a model that never finds memory is set aside, and then no longer ends idle models', () => {
  const world = warm(new World({}, plenty), b);
  const outOfMemory = () =>
    world.loadFail(world.workerOf('a'), fail('out_of_memory', { model: 'a', reason: 'no context' }));
  const load = () => {
    while (world.models('loading').length === 0) world.advance(100);
  };
  for (let i = 0; i < 3; i += 1) {
    const seq = world.submit(a);
    load();
    outOfMemory();
    expect(world.models('ending')).toEqual(['b']);
    expect(world.state(seq)).toBe('queued');
    world.turnOver();
    load();
    outOfMemory();
    expect(world.state(seq)).toBe('out_of_memory');
    world.submit(b);
    world.settleAll();
  }
  const refused = world.submit(a);
  expect(world.errors.get(refused)).toMatchObject({
    code: 'model_quarantined',
    detail: { model: 'a', reason: 'no context' },
  });
  expect(world.models('ready')).toEqual(['b']);
});

it('a job that ended the worker twice is refused for the time that its limit names; others are served', () => {
  const world = new World({ poisonMs: 120_000 }, plenty);
  const how = { blame: true, begun: true };
  const outcomes: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    const seq = world.submit(a, { poisonKey: 'bad' });
    world.turnOver();
    if (world.state(seq) === 'running') world.crash(world.workerOf('a'), 1, how);
    outcomes.push(world.state(seq));
  }
  expect(outcomes).toEqual(['worker_crashed', 'poison_request', 'poison_request']);
  world.advance(500);
  const late = world.submit(a, { poisonKey: 'bad' });
  expect(world.errors.get(late)).toMatchObject({ detail: { crashes: 2, refusedS: 120 } });
  expect(world.errors.get(late)?.message).toContain('2 times and is refused for 120 s');
  const good = world.submit(a);
  world.turnOver();
  expect(world.state(good)).toBe('running');
  world.advance(119_400);
  expect(world.state(world.submit(a, { poisonKey: 'bad' }))).toBe('poison_request');
  world.advance(100);
  expect(world.state(world.submit(a, { poisonKey: 'bad' }))).toBe('running');
});

it('a grammar under which steps do not end is refused with any text; a crash says nothing about it', () => {
  const run = (world: World, poisonKey: string): number => {
    const seq = world.submit(a, { poisonKey, grammarKey: 'bomb' });
    world.turnOver();
    return seq;
  };
  const hung = new World({}, plenty);
  for (const text of ['one', 'two']) {
    run(hung, text);
    hung.crash(hung.workerOf('a'), 0, { blame: true, begun: true, code: 'worker_hung' });
  }
  expect(hung.state(run(hung, 'three'))).toBe('poison_request');
  expect(hung.state(hung.submit(a, { poisonKey: 'four' }))).not.toBe('poison_request');
  const crashed = new World({}, plenty);
  for (const text of ['one', 'two', 'three']) {
    run(crashed, text);
    crashed.crash(crashed.workerOf('a'), 0, { blame: true, begun: true });
  }
  expect(crashed.state(run(crashed, 'four'))).toBe('running');
});

it('a job that was part of a crash and then succeeds is cleared', () => {
  const world = new World({}, plenty);
  const run = (): number => {
    const seq = world.submit(a, { poisonKey: 'same' });
    world.turnOver();
    return seq;
  };
  run();
  world.crash(world.workerOf('a'), 0, { blame: true, begun: true });
  world.finish(run(), true);
  const third = run();
  world.crash(world.workerOf('a'), 0, { blame: true, begun: true });
  expect(world.state(third)).toBe('worker_crashed');
});

it('a worker that is killed from outside is blamed on no job', () => {
  const world = new World({}, plenty);
  for (let i = 0; i < 5; i += 1) {
    const seq = world.submit(a, { poisonKey: 'same' });
    world.turnOver();
    world.crash(world.workerOf('a'), 0, { blame: false, begun: true });
    expect(world.state(seq)).toBe('worker_crashed');
  }
});

it('jobs that waited, or had not begun, survive a crash and run on the next worker; begun ones fail', () => {
  const world = warm(new World({ numParallel: 2 }, plenty));
  const unbegun = world.submit(a);
  world.submit(a);
  const waiting = world.submit(a);
  world.crash(world.workerOf('a'), 2, { blame: false, begun: false });
  world.settleAll();
  expect([world.state(unbegun), world.state(waiting)]).toEqual(['done', 'done']);
});

it('a cancelled waiting job leaves at once and the next one moves up', () => {
  const world = warm(new World({ numParallel: 1 }, plenty));
  const jobs = [world.submit(a), world.submit(a), world.submit(a)];
  world.cancel(jobs[1] ?? 0);
  world.advance(1_000);
  expect(world.notified.get(jobs[2] ?? 0)).toBe('1: waiting for a slot of model a');
  // The slot of a running job is free only when the worker has let go of it.
  world.cancel(jobs[0] ?? 0);
  expect(world.state(jobs[2] ?? 0)).toBe('queued');
  world.finish(jobs[0] ?? 0, false);
  expect(world.state(jobs[2] ?? 0)).toBe('running');
});

it('a load that nobody waits for any more is finished and kept', () => {
  const world = new World({}, plenty);
  world.cancel(world.submit(a));
  world.turnOver();
  expect(world.models('ready')).toEqual(['a']);
});

it('a load that nobody waits for any more is called off when its memory is needed', () => {
  const world = new World({}, forOne);
  world.cancel(world.submit(a));
  const seq = world.submit(b);
  expect(world.models('ending')).toEqual(['a']);
  world.loadFail(world.workerOf('a'), fail('cancelled'));
  world.turnOver();
  expect(world.state(seq)).toBe('running');
});

it('an unload waits for running jobs and for those that came before it, not for later ones', () => {
  const world = warm(new World({ numParallel: 1 }, plenty));
  const running = world.submit(a);
  const before = world.submit(a);
  world.unload('a');
  const after = world.submit(a);
  world.finish(running, true);
  expect([world.state(before), world.state(after)]).toEqual(['running', 'queued']);
  world.finish(before, true);
  expect(world.models('ending')).toEqual(['a']);
  world.settleAll();
  expect(world.state(after)).toBe('done');
  expect(world.loads).toBe(2);
});

it('a drain refuses new and waiting jobs, calls off loads, and leaves running jobs alone', () => {
  const world = warm(new World({ numParallel: 1 }, plenty));
  const running = world.submit(a);
  const waiting = world.submit(a);
  const loading = world.submit(b);
  world.drain();
  expect([world.state(running), world.state(waiting), world.state(loading)]).toEqual([
    'running',
    'draining',
    'draining',
  ]);
  expect(world.models('ending')).toEqual(['b']);
  expect(world.state(world.submit(a))).toBe('draining');
  world.finish(running, true);
  expect(world.state(running)).toBe('done');
});

it('the position told at arrival is the one that the whole order gives', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ client: fc.constantFrom('x', 'y', 'z'), cost: fc.constantFrom(1, 1, 3) }), {
        minLength: 2,
        maxLength: 30,
      }),
      fc.nat({ max: 5 }),
      (arrivals, ended) => {
        const world = warm(new World({ numParallel: 1, maxOvertakes: 3 }, plenty));
        for (const arrival of arrivals) world.submit(a, arrival);
        for (let i = 0; i < ended; i += 1) {
          const { seq } = world.running()[0] ?? {};
          if (seq !== undefined) world.finish(seq, true);
        }
        if (world.queued().length === 0) return;
        const seq = world.submit(a, { client: 'x' });
        const atArrival = world.notified.get(seq);
        world.advance(2_000);
        expect(world.notified.get(seq)).toBe(atArrival);
      },
    ),
  );
});
