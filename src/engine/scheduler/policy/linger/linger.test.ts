import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mib, modelTarget, World } from '../../../../../test/support/engine/scheduler-world.ts';

const model = modelTarget('m', 100);
const plenty = 64_000 * mib;
const JOB_MS = 4_000;

/** A world of two slots in which jobs take four seconds, and `quick` sends its requests 100 ms after its answers. */
function busy(over: Partial<World['limits']> = {}): World {
  const world = new World({ numParallel: 2, ...over }, plenty);
  world.submit(model);
  world.turnOver();
  world.finish(1, true);
  for (let turn = 0; turn < 20; turn += 1) run(world, 'quick');
  return world;
}

function run(world: World, session: string): void {
  const seq = world.submit(model, { session });
  world.advance(JOB_MS);
  world.finish(seq, true);
  world.advance(100);
}

describe('a slot that becomes free', () => {
  it('waits for its own session while others may wait, and is then continued', () => {
    const world = busy();
    const [quick] = [world.submit(model, { session: 'quick' }), world.submit(model, { session: 'b' })];
    const waiting = ['c', 'd', 'e'].map((session) => world.submit(model, { session }));
    world.advance(200);
    world.finish(quick ?? 0, true);
    expect(waiting.map((seq) => world.state(seq))).toEqual(['queued', 'queued', 'queued']);
    world.advance(50);
    const next = world.submit(model, { session: 'quick' });
    expect(world.state(next)).toBe('running');
    expect(waiting.map((seq) => world.state(seq))).toEqual(['queued', 'queued', 'queued']);
  });

  it('is given to the next one when the session does not come', () => {
    const world = busy();
    const [quick] = [world.submit(model, { session: 'quick' }), world.submit(model, { session: 'b' })];
    const waiting = ['c', 'd', 'e'].map((session) => world.submit(model, { session }));
    world.advance(200);
    world.finish(quick ?? 0, true);
    world.advance(400);
    expect(waiting.map((seq) => world.state(seq))).toEqual(['running', 'queued', 'queued']);
  });

  it('is given at once to who has waited for its fair share', () => {
    const world = busy();
    const [quick] = [world.submit(model, { session: 'quick' }), world.submit(model, { session: 'b' })];
    const waiting = ['c', 'd', 'e'].map((session) => world.submit(model, { session }));
    world.advance(JOB_MS);
    world.finish(quick ?? 0, true);
    expect(world.state(waiting[0] ?? 0)).toBe('running');
  });

  it('is given to who reaches its fair share while the slot is held', () => {
    const world = busy();
    for (let turn = 0; turn < 20; turn += 1) {
      run(world, 'steady');
      world.advance(1_400);
    }
    const [steady] = [world.submit(model, { session: 'steady' }), world.submit(model, { session: 'b' })];
    const waiting = ['c', 'd'].map((session) => world.submit(model, { session }));
    // Four sessions share two slots: each waits for as long as a job takes, 3.5 s by now, less half a job for the next slot.
    world.advance(JOB_MS / 2 - 500);
    world.finish(steady ?? 0, true);
    world.advance(200);
    expect(world.state(waiting[0] ?? 0)).toBe('queued');
    world.advance(100);
    expect(world.state(waiting[0] ?? 0)).toBe('running');
  });

  it('waits longer where clients share the slots, of whom each has the same part of them', () => {
    const world = busy();
    const quick = world.submit(model, { session: 'quick' });
    world.submit(model, { session: 'b', client: 'z' });
    const waiting = ['c', 'd'].map((session) => world.submit(model, { session }));
    world.finish(quick, true);
    expect(world.state(waiting[0] ?? 0)).toBe('queued');
  });

  it.each<[string, string | undefined, Partial<World['limits']>]>([
    ['a session that was slow', 'slow', {}],
    ['what is no session', undefined, {}],
    ['any where lingering is off', 'quick', { mostLingerMs: 0 }],
    ['any where nobody may be overtaken', 'quick', { maxOvertakes: 0 }],
  ])('does not wait for %s', (_, session, limits) => {
    const world = busy(limits);
    run(world, 'slow');
    world.advance(9_000);
    run(world, 'slow');
    world.advance(9_000);
    const first = world.submit(model, { session });
    const waiting = ['b', 'c', 'd', 'e'].map((other) => world.submit(model, { session: other }));
    world.finish(first, true);
    expect(world.state(waiting[1] ?? 0)).toBe('running');
  });

  it('is never held in a model that runs nothing else', () => {
    const world = busy({ numParallel: 1 });
    const quick = world.submit(model, { session: 'quick' });
    const waiting = world.submit(model, { session: 'c' });
    world.finish(quick, true);
    expect(world.state(waiting)).toBe('running');
  });
});

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      session: fc.constantFrom('one', 'two', 'three', 'four', 'five', 'six', undefined),
      client: fc.constantFrom('x', 'y'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('finish' as const), pick: fc.nat({ max: 9 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat({ max: 1_500 }) }) },
);

it('nobody waits beside a free slot for longer than the limit, or than its fair share', () => {
  let held = 0;
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 120, size: 'max' }),
      fc.integer({ min: 1, max: 4 }),
      (steps, slots) => {
        const world = new World({ numParallel: slots, mostLingerMs: 1_000 }, plenty);
        world.submit(model);
        world.turnOver();
        world.finish(1, true);
        let lastEndMs = Number.NEGATIVE_INFINITY;
        for (const next of steps) {
          if (next.do === 'submit') {
            world.submit(model, next);
          } else if (next.do === 'advance') {
            world.advance(next.ms);
          } else {
            const job = world.running()[next.pick % Math.max(1, world.running().length)];
            if (job === undefined) continue;
            world.finish(job.seq, true);
            lastEndMs = world.now;
          }
          const running = world.running().length;
          if (running === slots) continue;
          for (const job of world.queued()) {
            held += 1;
            assert.ok(running > 0, 'a model that runs nothing lets nobody wait');
            assert.ok(world.now < lastEndMs + 1_000, 'a slot is held for a second at most');
            // As if every open job were a session of its own, and each client had as many.
            const most = (2 * (world.open().length + slots)) / slots - 1;
            assert.ok(world.now - job.atMs < world.policy.state.meanJobMs * most, 'within its fair share');
          }
        }
        world.settleAll();
      },
    ),
    { numRuns: process.env['SVC_LONG_TESTS'] === '1' ? 10_000 : 500 },
  );
  // The property is about something: slots were held.
  assert.ok(held > 0);
});
