import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_BALANCE_LIMITS as limits } from '../limits.ts';
import { PRIVACIES } from '../../../../contract/settings/privacy.ts';
import { type Candidate, farness, isFull, currentLoad } from './candidate.ts';
import { choose, type Wish } from './choose.ts';

const idle: Candidate = {
  id: 'a',
  privacy: 'lan',
  health: 'ready',
  hasModel: true,
  inFlight: 0,
  maxCalls: 64,
  load: null,
  inFlightAtReport: 0,
};
const noLoad = { running: null, waiting: null, capacity: null, kvUse: null };
const plain: Wish = { farthest: 'remote', failed: new Set(), shares: new Map(), session: new Set() };
const upstream = (id: string, over: Partial<Candidate> = {}): Candidate => ({ ...idle, id, ...over });
const take = (pool: readonly Candidate[], wish: Partial<Wish> = {}, random = () => 0) =>
  choose(pool, { ...plain, ...wish }, { random, limits });

describe('who may be chosen', () => {
  it('a prompt that must stay on this machine goes to no other, however busy this one is', () => {
    const pool = [
      upstream('here', { privacy: 'local', inFlight: 64 }),
      upstream('there'),
      upstream('far', { privacy: 'remote' }),
    ];
    expect(take(pool, { farthest: 'local' })).toMatchObject({ id: 'here' });
    expect(take(pool.slice(1), { farthest: 'local' })).toEqual({ none: 'private' });
    expect(take(pool.slice(2), { farthest: 'lan' })).toEqual({ none: 'private' });
  });

  it('says why there is none', () => {
    expect(take([upstream('a', { hasModel: false })])).toEqual({ none: 'model_gone' });
    expect(take([upstream('a', { health: 'down' })])).toEqual({ none: 'down' });
    expect(take([upstream('a')], { failed: new Set(['a']) })).toEqual({ none: 'failed' });
  });

  it('a busy one gets only what nobody else takes', () => {
    expect(take([upstream('a', { health: 'busy' }), upstream('b', { inFlight: 9 })])).toMatchObject({
      id: 'b',
    });
    expect(take([upstream('a', { health: 'busy' }), upstream('b', { health: 'down' })])).toMatchObject({
      id: 'a',
    });
  });

  it.each([
    ['requests wait there for room', { ...noLoad, waiting: 1 }],
    ['its KV cache is full', { ...noLoad, kvUse: 0.97 }],
    ['others use all of its slots', { ...noLoad, capacity: 4, running: 4 }],
  ])('one is full when %s', (_, load) => {
    expect(take([upstream('a', { load }), upstream('b', { inFlight: 3 })])).toMatchObject({ id: 'b' });
  });

  it('what an upstream does not tell is not zero, and not full', () => {
    expect(isFull(upstream('a', { load: noLoad }), limits)).toBe(false);
  });

  it('the work of others counts, and ours is not counted twice', () => {
    expect(
      currentLoad(upstream('a', { inFlight: 5, inFlightAtReport: 3, load: { ...noLoad, running: 7 } })),
    ).toBe(9);
  });
});

describe('the nearest first', () => {
  const here = upstream('here', { privacy: 'local' });
  const there = upstream('there', { privacy: 'remote' });

  it('while it has room', () => {
    expect(take([there, { ...here, inFlight: 63 }])).toMatchObject({ id: 'here' });
    expect(take([there, { ...here, inFlight: 64 }])).toMatchObject({ id: 'there' });
  });

  it('even if the farther one knows the prompt, which counts as a spill', () => {
    expect(take([there, here], { session: new Set(['there']) })).toEqual({
      id: 'here',
      by: 'load',
      spilledFrom: 'there',
    });
  });
});

describe('without anything known', () => {
  it('goes to the least loaded, of equals to one at random', () => {
    const pool = [
      upstream('a', { inFlight: 2 }),
      upstream('b', { inFlight: 1 }),
      upstream('c', { inFlight: 1 }),
    ];
    expect(take(pool)).toEqual({ id: 'b', by: 'load', spilledFrom: null });
    expect(take(pool, {}, () => 0.9)).toMatchObject({ id: 'c' });
  });
});

describe('where the prompt is known', () => {
  it('goes to the one that knows most of it, and says so', () => {
    const shares = new Map([
      ['a', 0.3],
      ['b', 0.8],
    ]);
    expect(take([upstream('a'), upstream('b'), upstream('c')], { shares })).toEqual({
      id: 'b',
      by: 'prefix',
      spilledFrom: null,
    });
  });

  it('a session wins over a prefix', () => {
    const wish = { shares: new Map([['a', 0.9]]), session: new Set(['b']) };
    expect(take([upstream('a'), upstream('b')], wish)).toMatchObject({ id: 'b', by: 'session' });
  });

  it('too little to matter does not count', () => {
    const wish = { shares: new Map([['b', 0.05]]) };
    expect(take([upstream('a'), upstream('b')], wish)).toMatchObject({ by: 'load', spilledFrom: null });
  });

  it('yields to load, and says that it spilled', () => {
    const pool = [
      upstream('a', { inFlight: 12 }),
      upstream('b', { inFlight: 4 }),
      upstream('c', { inFlight: 4 }),
    ];
    expect(take(pool, { shares: new Map([['a', 1]]) })).toMatchObject({ by: 'load', spilledFrom: 'a' });
    const even = [
      upstream('a', { inFlight: 5 }),
      upstream('b', { inFlight: 4 }),
      upstream('c', { inFlight: 4 }),
    ];
    expect(take(even, { shares: new Map([['a', 1]]) })).toMatchObject({ id: 'a', spilledFrom: null });
  });

  it('a larger upstream has a larger part', () => {
    const load = (capacity: number) => ({ ...noLoad, capacity });
    const pool = [
      upstream('small', { inFlight: 3, load: load(4) }),
      upstream('large', { inFlight: 20, load: load(64) }),
    ];
    expect(take(pool)).toMatchObject({ id: 'large' });
  });
});

const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const load = nullable(
  fc.record({
    running: nullable(fc.nat({ max: 20 })),
    waiting: nullable(fc.nat({ max: 2 })),
    capacity: nullable(fc.integer({ min: 1, max: 16 })),
    kvUse: nullable(fc.double({ min: 0, max: 1, noNaN: true })),
  }),
);
const pools = fc
  .array(
    fc.record({
      privacy: fc.constantFrom(...PRIVACIES),
      health: fc.constantFrom('ready' as const, 'ready' as const, 'busy' as const, 'down' as const),
      hasModel: fc.boolean(),
      inFlight: fc.nat({ max: 20 }),
      maxCalls: fc.integer({ min: 1, max: 32 }),
      load,
      inFlightAtReport: fc.nat({ max: 20 }),
    }),
    { maxLength: 12 },
  )
  .map((list) => list.map((figures, index): Candidate => ({ id: String(index), ...figures })));
const ids = fc.array(fc.nat({ max: 11 }).map(String)).map((list) => new Set(list));
const wishes = fc.record({
  farthest: fc.constantFrom(...PRIVACIES),
  failed: ids,
  session: ids,
  shares: fc
    .array(fc.tuple(fc.nat({ max: 11 }).map(String), fc.double({ min: 0, max: 1, noNaN: true })))
    .map((list) => new Map(list)),
});
const draws = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
  minLength: 2,
  maxLength: 2,
});

describe('whatever the upstreams look like', () => {
  it('the choice keeps every rule, and one is found whenever one may be taken', () => {
    fc.assert(
      fc.property(pools, wishes, draws, (pool, wish, numbers) => {
        const queue = [...numbers];
        const choice = choose(pool, wish, { random: () => queue.shift() ?? 0, limits });
        const may = pool.filter(
          ({ id, privacy, hasModel, health }) =>
            farness(privacy) <= farness(wish.farthest) &&
            hasModel &&
            health !== 'down' &&
            !wish.failed.has(id),
        );
        if ('none' in choice) {
          expect(may).toEqual([]);
          return;
        }
        const chosen = may.find(({ id }) => id === choice.id);
        expect(chosen).toBeDefined();
        if (chosen === undefined) return;
        // Nobody waits in a full one while another has room.
        const open = may.filter((candidate) => !isFull(candidate, limits));
        if (open.length > 0) expect(open).toContain(chosen);
        if (choice.by === 'session') expect(wish.session.has(choice.id)).toBe(true);
        if (choice.by === 'prefix')
          expect(wish.shares.get(choice.id)).toBeGreaterThanOrEqual(limits.leastShare);
      }),
      { numRuns: 500 },
    );
  });

  it('an upstream with a request more than one above the least loaded of equals gets none', () => {
    const field = fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(field, wishes, draws, (loads, wish, [drawn = 0]) => {
        const pool = loads.map((inFlight, index) => upstream(String(index), { inFlight }));
        const choice = take(pool, { ...wish, farthest: 'remote', failed: new Set() }, () => drawn);
        if ('none' in choice) throw new Error('there was one');
        expect((loads[Number(choice.id)] ?? 0) - Math.min(...loads)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });
});
