import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SharedMap } from './shared-map.ts';

const add = fc.record({
  owner: fc.constantFrom('a', 'a', 'a', 'b', 'c', 'd'),
  size: fc.integer({ min: 1, max: 30 }),
  key: fc.nat(200),
});

describe('a shared map', () => {
  it('never takes from an owner that keeps its equal share or less, and keeps within its limits', () => {
    fc.assert(
      fc.property(fc.array(add, { minLength: 60, maxLength: 120 }), (adds) => {
        const limits = { entries: 20, size: 200 };
        const map = new SharedMap<string, { owner: string; size: number }>(limits);
        for (const { owner, size, key } of adds) {
          map.set(`${owner}${key}`, { owner, size }, { owner, size });
          for (let gone = map.excess(); gone !== undefined; gone = map.excess()) {
            const kept = [...map.entries()].map(([, value]) => value);
            const loser = map.get(gone)?.owner;
            const own = kept.filter((each) => each.owner === loser);
            const owners = new Set(kept.map((each) => each.owner)).size;
            const isOverCount = own.length > limits.entries / owners;
            const isOverSize = own.reduce((sum, each) => sum + each.size, 0) > limits.size / owners;
            expect(isOverCount || isOverSize).toBe(true);
            expect(own[0]).toBe(map.get(gone));
            map.delete(gone);
          }
          expect(map.count).toBeLessThanOrEqual(limits.entries);
          expect([...map.entries()].reduce((sum, [, value]) => sum + value.size, 0)).toBeLessThanOrEqual(200);
        }
      }),
    );
  });

  it('takes the oldest of whoever keeps most, in order of age', () => {
    const map = new SharedMap<string, number>({ entries: 3 });
    map.set('victim', 1, { owner: 'v' });
    for (const key of ['x', 'y', 'z']) {
      map.set(key, 2, { owner: 'm' });
      map.trim();
    }
    expect([...map.entries()].map(([key]) => key)).toEqual(['victim', 'y', 'z']);
    map.renew('y');
    map.set('w', 2, { owner: 'm' });
    expect(map.excess()).toBe('z');
  });
});
