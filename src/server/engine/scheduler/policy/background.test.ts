import { describe, expect, it } from 'vitest';
import { mib, modelTarget, World } from '../../../../../test/support/engine/scheduler-world.ts';

const a = modelTarget('a', 100);
const b = modelTarget('b', 100);
const forOne = 400 * mib;
const plenty = 64_000 * mib;
const idle = { isBackground: true } as const;

/** A world in which the model is loaded and idle. */
function warm(over: ConstructorParameters<typeof World>[0], memory = plenty): World {
  const world = new World({ keepAliveMs: Number.POSITIVE_INFINITY, ...over }, memory);
  const seq = world.submit(a);
  world.turnOver();
  world.finish(seq, true);
  return world;
}

describe('background jobs', () => {
  it('run where nothing else does, and leave a slot free', () => {
    const world = warm({ numParallel: 3 });
    const seqs = [1, 2, 3].map(() => world.submit(a, idle));
    expect(seqs.map((seq) => world.state(seq))).toEqual(['running', 'running', 'queued']);
    world.finish(seqs[0] ?? 0, true);
    expect(world.state(seqs[2] ?? 0)).toBe('running');
  });

  it('start only once no other job waits or runs, on whatever model', () => {
    const world = warm({ numParallel: 2 });
    const chat = world.submit(b);
    const batch = world.submit(a, idle);
    expect(world.state(batch)).toBe('queued');
    world.turnOver();
    expect([world.state(chat), world.state(batch)]).toEqual(['running', 'queued']);
    world.finish(chat, true);
    expect(world.state(batch)).toBe('running');
  });

  it('go on beside a job that finds a free slot, and give theirs to one that does not', () => {
    const world = warm({ numParallel: 2 });
    const batch = world.submit(a, idle);
    const [first, second] = [world.submit(a), world.submit(a)];
    expect(world.state(first)).toBe('running');
    expect(world.jobs.get(batch)?.isPreempted).toBe(true);
    expect(world.state(second)).toBe('queued');
    world.finish(batch, false);
    expect(world.state(second)).toBe('running');
  });

  it('leave a model whose memory another job needs', () => {
    const world = warm({}, forOne);
    const batch = world.submit(a, idle);
    const chat = world.submit(b);
    expect(world.jobs.get(batch)?.isPreempted).toBe(true);
    world.finish(batch, false);
    world.turnOver();
    world.turnOver();
    expect(world.state(chat)).toBe('running');
  });

  it('let no model go that was used a moment ago', () => {
    const world = warm({}, forOne);
    const batch = world.submit(b, idle);
    world.advance(world.limits.backgroundIdleMs - 1);
    expect(world.models('ready')).toEqual(['a']);
    world.advance(1);
    expect(world.models('ending')).toEqual(['a']);
    world.turnOver();
    world.turnOver();
    expect(world.state(batch)).toBe('running');
  });

  it('take no place in the queue of the others', () => {
    const world = warm({ numParallel: 1, maxQueue: 1 });
    const batch = Array.from({ length: 10 }, () => world.submit(a, idle));
    const [first, second, third] = [world.submit(a), world.submit(a), world.submit(a)];
    expect([first, second, third].map((seq) => world.state(seq))).toEqual([
      'queued',
      'queue_full',
      'queue_full',
    ]);
    expect(batch.map((seq) => world.state(seq))).not.toContain('queue_full');
    world.settleAll();
    expect(world.state(batch[9] ?? 0)).toBe('done');
  });

  it('are bounded themselves', () => {
    const world = warm({ numParallel: 1, maxHeld: 2 });
    world.submit(a);
    const seqs = [1, 2, 3].map(() => world.submit(a, idle));
    expect(seqs.map((seq) => world.state(seq))).toEqual(['queued', 'queued', 'queue_full']);
  });
});
