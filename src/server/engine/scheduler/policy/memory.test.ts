/** Decisions about memory: measured before, planned per device, smaller after a failure. */
import { expect, it } from 'vitest';
import { fail } from '../../../../lib/errors/svc-error.ts';
import type { LoadSize, Memory, ModelTarget } from '../../ports.ts';
import { mib, modelTarget, World } from '../../../../../test/support/engine/scheduler-world.ts';

const plenty = 64_000 * mib;
const [a, b, c] = [modelTarget('a', 100), modelTarget('b', 100), modelTarget('c', 100)];

/** Each model holds 100 on its own device and 10 on the machine. */
class TwoGpus extends World {
  readonly #deviceOf: Readonly<Record<string, string>>;

  constructor(deviceOf: Readonly<Record<string, string>>) {
    super({}, [
      { device: 'CPU', bytes: 1_000 },
      { device: 'GPU0', bytes: 150 },
      { device: 'GPU1', bytes: 150 },
    ]);
    this.#deviceOf = deviceOf;
  }

  override memoryNeed({ modelId }: ModelTarget, _size: LoadSize): Memory {
    return [
      { device: 'CPU', bytes: 10 },
      { device: this.#deviceOf[modelId] ?? 'CPU', bytes: modelId === 'huge' ? 500 : 100 },
    ];
  }
}

function serve(world: World, target: ModelTarget): void {
  const seq = world.submit(target);
  world.turnOver();
  world.turnOver();
  world.finish(seq, true);
}

it('a model is measured before anything makes room for it, and its client is told that it loads', () => {
  const world = new World({}, plenty);
  world.unmeasured.add('a');
  const seq = world.submit(a);
  world.submit(a);
  expect([world.measuring.length, world.loads]).toEqual([1, 0]);
  expect(world.notified.get(seq)).toBe('1: loading model a');
  world.measureDone();
  expect(world.models('loading')).toEqual(['a']);
});

it('a model that is short of one device evicts what holds memory there, and nothing else', () => {
  const world = new TwoGpus({ a: 'GPU0', b: 'GPU1', c: 'GPU1' });
  serve(world, a);
  serve(world, b);
  world.submit(c);
  // The other was used longer ago, and would have gone first.
  expect(world.models('ending')).toEqual(['b']);
  expect(world.models('ready')).toEqual(['a']);
});

it('a refusal names the device that is too small', () => {
  const world = new TwoGpus({ huge: 'GPU1' });
  const seq = world.submit(modelTarget('huge', 1));
  expect(world.failure(seq, 'out_of_memory').detail.reason).toBe(
    'it needs about 500 bytes on GPU1, 150 are free there',
  );
});

it('a load that runs out of memory with nothing to evict is tried once more, and smaller', () => {
  const world = new World({}, plenty);
  const seq = world.submit(a, { numCtx: 8_192 });
  const first = world.order('a').plan;
  const failure = fail('out_of_memory', { model: 'a', reason: 'no buffer' });
  world.loadFail(world.workerOf('a'), failure);
  expect(world.state(seq)).toBe('queued');
  world.advance(500);
  const second = world.order('a').plan;
  expect(second.cells).toBeLessThanOrEqual(first.cells / 2);
  world.loadFail(world.workerOf('a'), failure);
  expect(world.failure(seq, 'out_of_memory').detail.reason).toMatch(
    /^no buffer; it needs about \d+ bytes, \d+ are free$/,
  );
  // The next request begins anew with the window that it asks for.
  world.advance(60_000);
  world.submit(a, { numCtx: 8_192 });
  expect(world.order('a').plan).toMatchObject({ numCtx: first.numCtx, slots: first.slots });
});

it('a load that succeeds smaller serves those that waited', () => {
  const world = new World({}, plenty);
  const seq = world.submit(a, { numCtx: 8_192 });
  world.loadFail(world.workerOf('a'), fail('out_of_memory', { model: 'a', reason: 'no buffer' }));
  world.advance(500);
  world.turnOver();
  expect(world.state(seq)).toBe('running');
});
