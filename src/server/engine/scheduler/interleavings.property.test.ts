import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'vitest';
import { fail } from '../../../lib/errors/svc-error.ts';
import type { Lane } from './policy/state.ts';
import { mib, modelTarget, World } from '../../../../test/support/engine/scheduler-world.ts';

const models = ['a', 'b', 'c', 'd'].map((id, index) => modelTarget(id, 100 * (index + 1)));

/** A third of what a test may take; a quiet machine needs far less. */
const MOST_MS = 20_000;

const pick = fc.nat({ max: 1_000 });
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      model: fc.nat({ max: models.length - 1 }),
      client: fc.constantFrom('x', 'y', 'z'),
      lane: fc.constantFrom<Lane>('shared', 'shared', 'shared', 'frozen', 'light'),
      numCtx: fc.constantFrom(16, 1_024, 1_024, 4_096, 2 ** 31 - 1),
      keepAliveMs: fc.constantFrom(0, 1_000, 300_000, Number.POSITIVE_INFINITY),
      isBackground: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('finish' as const), pick, succeeded: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('loadDone' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('measureDone' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('gone' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('crash' as const), pick, goneAfter: fc.nat({ max: 8 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('loadFail' as const),
      pick,
      code: fc.constantFrom('load_failed' as const, 'out_of_memory' as const, 'native_unavailable' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unload' as const), model: fc.nat({ max: 3 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 100, 1_000, 6_000, 60_000, 700_000),
    }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

function choose<T>(list: readonly T[], index: number): T | undefined {
  return list[index % Math.max(1, list.length)];
}

function workersIn(world: World, state: string): number[] {
  return [...world.workers].filter(([, worker]) => worker.state === state).map(([id]) => id);
}

function perform(world: World, step: Command): void {
  switch (step.do) {
    case 'submit': {
      const target = models[step.model];
      if (target) world.submit(target, step);
      return;
    }
    case 'finish': {
      const job = choose(world.running(), step.pick);
      if (job) world.finish(job.seq, step.succeeded);
      return;
    }
    case 'cancel': {
      const job = choose(
        world.open().filter((open) => !open.left),
        step.pick,
      );
      if (job) world.cancel(job.seq);
      return;
    }
    case 'loadDone': {
      const id = choose(workersIn(world, 'loading'), step.pick);
      if (id !== undefined) world.loadDone(id);
      return;
    }
    case 'loadFail': {
      const id = choose(workersIn(world, 'loading'), step.pick);
      if (id !== undefined) world.loadFail(id, fail(step.code, { model: 'a', reason: 'x' }));
      return;
    }
    case 'measureDone':
      world.measureDone();
      return;
    case 'gone': {
      const id = choose(workersIn(world, 'ending'), step.pick);
      if (id !== undefined) world.gone(id);
      return;
    }
    case 'crash': {
      const id = choose(workersIn(world, 'ready'), step.pick);
      if (id !== undefined) world.crash(id, step.goneAfter);
      return;
    }
    case 'unload':
      world.unload(models[step.model]?.modelId ?? '');
      return;
    case 'advance':
      world.advance(step.ms);
  }
}

const limits = fc.record({
  maxQueue: fc.constantFrom(0, 3, 50),
  maxLoadedModels: fc.constantFrom(null, 1, 2),
  maxConcurrentLoads: fc.constantFrom(1, 2),
  numParallel: fc.constantFrom(null, 1, 3),
  maxOvertakes: fc.constantFrom(0, 2, 32),
  maxRequeues: fc.constantFrom(0, 1),
});
/** From too little for the largest model to room for all. */
const capacityMib = fc.constantFrom(450, 700, 1_200, 8_000);

it('no order of events loses, doubles or starves a job, evicts a busy model or overbooks slots or memory', () => {
  fc.assert(
    fc.property(
      limits,
      capacityMib,
      fc.array(command, { maxLength: 80, size: 'max' }),
      (chosen, capacity, steps) => {
        const world = new World(chosen, capacity * mib);
        for (const id of ['b', 'd']) world.unmeasured.add(id);
        for (const step of steps) perform(world, step);
        world.settleAll();
        for (const job of world.jobs.values()) assert.ok(job.outcome !== null, 'every job got its last word');
        assert.equal(world.policy.state.running.size, 0);
      },
    ),
    // On a busy machine fewer will do.
    process.env['SVC_LONG_TESTS'] === '1'
      ? { numRuns: 10_000 }
      : { numRuns: 1_000, interruptAfterTimeLimit: MOST_MS },
  );
});

/** One round of busy life: a job of every model in `busy` ends and another comes; loads and unloads get done. */
function round(world: World, busy: readonly number[], ms: number): void {
  for (const index of busy) {
    const target = models[index];
    if (target) world.submit(target, { client: 'x' });
  }
  for (const id of workersIn(world, 'loading')) world.loadDone(id);
  for (const id of workersIn(world, 'ending')) world.gone(id);
  for (const job of world.running()) world.finish(job.seq, true);
  world.advance(ms);
}

it('a model that is never idle gives way to another after the switch limit, however long its own queue', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 200, max: 1_000 }),
      fc.uniqueArray(fc.nat({ max: 2 }), { minLength: 1 }),
      (ms, busy) => {
        // Room for the largest alone.
        const world = new World({ maxQueue: 1_000 }, 720 * mib);
        for (let i = 0; i < 20; i += 1) round(world, busy, ms);
        const last = models[3] ?? assert.fail('there are four models');
        const seq = world.submit(last, { client: 'y' });
        const atMs = world.now;
        // Each busy model may hold the memory for one limit, plus the rounds in which it drains, ends and loads.
        const boundMs = (busy.length + 1) * (world.limits.maxSwitchWaitMs + 8 * ms);
        while (world.queued().some((job) => job.seq === seq) && world.now <= atMs + boundMs)
          round(world, busy, ms);

        const startedAtMs = world.jobs.get(seq)?.startedAtMs ?? Number.POSITIVE_INFINITY;
        assert.ok(startedAtMs - atMs <= boundMs, 'the wait is bounded');
      },
    ),
    { numRuns: 100 },
  );
});

it('a burst that alternates between two models is grouped: two loads serve it all', () => {
  const world = new World({ maxQueue: 1_000 }, 720 * mib);
  const [a, b] = [models[2], models[3]];
  assert.ok(a && b);
  for (let i = 0; i < 20; i += 1) {
    world.submit(a, {});
    world.submit(b, {});
  }
  world.settleAll();
  assert.equal(world.loads, 2);
});
