import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'vitest';
import type { Device } from '../../../contract/memory.ts';
import {
  DeviceWorld,
  type FakeMachine,
  type TrueSize,
} from '../../../../test/support/engine/device-world.ts';
import { mib, modelTarget } from '../../../../test/support/engine/scheduler-world.ts';

const targets = ['a', 'b', 'c', 'd', 'e'].map((id) => modelTarget(id, 100));

const device = (name: string, kind: Device['kind'], sizeMib: number): Device => ({
  name,
  description: name,
  kind,
  totalBytes: sizeMib * mib,
  freeBytes: sizeMib * mib,
});

const sizeOn = (name: string): fc.Arbitrary<TrueSize> =>
  fc.record({
    device: fc.constant(name),
    weightsMib: fc.constantFrom(0, 50, 300, 900),
    mibPerThousandCells: fc.constantFrom(0, 10, 100),
    mibPerSlot: fc.constantFrom(0, 1, 20),
    windowCells: fc.constantFrom(1_024, Number.POSITIVE_INFINITY),
  });

const GPUS = ['GPU0', 'GPU1', 'iGPU'] as const;

const machine = (reportedShare: fc.Arbitrary<number>): fc.Arbitrary<FakeMachine> =>
  fc.record({
    devices: fc
      .tuple(
        fc.constantFrom(900, 2_000, 8_000),
        fc.constantFrom(500, 1_500, 8_000),
        fc.constantFrom(500, 3_000),
        fc.constantFrom(400, 1_500),
      )
      .map(([cpu, gpu0, gpu1, igpu]) => [
        device('CPU', 'cpu', cpu),
        device('GPU0', 'gpu', gpu0),
        device('GPU1', 'gpu', gpu1),
        device('iGPU', 'igpu', igpu),
      ]),
    models: fc
      .array(fc.tuple(sizeOn('CPU'), fc.constantFrom(...GPUS).chain(sizeOn)), {
        minLength: targets.length,
        maxLength: targets.length,
      })
      .map((sizes) => new Map(targets.map(({ modelId }, index) => [modelId, sizes[index] ?? []]))),
    reportedShare,
  });

const pick = fc.nat({ max: 1_000 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      model: fc.nat({ max: targets.length - 1 }),
      numCtx: fc.constantFrom(512, 1_024, 3_000, 4_096, 8_192),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const), pick }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('load' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('gone' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('measure' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('boot' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(10, 6_000) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function workerIn(world: DeviceWorld, state: string, index: number): number | undefined {
  const ids = [...world.workers].filter(([, worker]) => worker.state === state).map(([id]) => id);
  return ids[index % Math.max(1, ids.length)];
}

function perform(world: DeviceWorld, step: Step): void {
  switch (step.do) {
    case 'submit': {
      const target = targets[step.model];
      if (target) world.submit(target, step);
      return;
    }
    case 'finish': {
      const running = world.running();
      const job = running[step.pick % Math.max(1, running.length)];
      if (job) world.finish(job.seq, true);
      return;
    }
    case 'load': {
      const id = workerIn(world, 'loading', step.pick);
      if (id !== undefined) world.loadDone(id);
      return;
    }
    case 'gone': {
      const id = workerIn(world, 'ending', step.pick);
      if (id !== undefined) world.gone(id);
      return;
    }
    case 'crash': {
      const id = workerIn(world, 'ready', step.pick);
      if (id !== undefined) world.crash(id);
      return;
    }
    case 'measure':
      world.measureDone();
      return;
    case 'boot':
      world.boot();
      return;
    case 'advance':
      world.advance(step.ms);
  }
}

const steps = fc.array(step, { minLength: 5, maxLength: 25, size: 'max' });

const isLong = process.env['SVC_LONG_TESTS'] === '1';
const orders = isLong ? 30_000 : 3_000;

it(`${orders} orders of loads over-commit no device, evict nothing busy and end every job`, () => {
  fc.assert(
    fc.property(machine(fc.constant(1)), steps, (chosen, list) => {
      const world = new DeviceWorld({ numParallel: null }, chosen);
      for (const one of list) perform(world, one);
      world.settleAll();
      assert.equal(world.outOfMemory, 0, 'what was measured before is enough');
    }),
    { numRuns: orders, seed: 16 },
  );
}, 600_000);

it('a library that tells too little makes loads fail, and every job still gets its last word', () => {
  fc.assert(
    fc.property(machine(fc.constantFrom(0.4, 0.7, 0.9)), steps, (chosen, list) => {
      const world = new DeviceWorld({ loadTries: 100, loadBackoffMs: 1 }, chosen);
      for (const one of list) perform(world, one);
      world.settleAll();
    }),
    { numRuns: orders / 10, seed: 16 },
  );
}, 600_000);
