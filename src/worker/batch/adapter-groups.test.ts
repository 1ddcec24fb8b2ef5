import { describe, expect, it } from 'vitest';
import { adapterKey, type CurrentGroup, type GroupMember, nextKey } from './adapter-groups.ts';

describe('jobs that may share a step', () => {
  it('have the same adapters with the same scales', () => {
    const style = { name: 'style', scale: 1 };
    expect(adapterKey([])).toBe('');
    expect(adapterKey([style])).toBe(adapterKey([{ ...style }]));
    expect(adapterKey([style])).not.toBe(adapterKey([{ ...style, scale: 0.5 }]));
    expect(adapterKey([style, { name: 'tone', scale: 1 }])).not.toBe(adapterKey([style]));
  });
});

describe('the group of the next step', () => {
  const member = (key: string, waitingSinceMs: number): GroupMember => ({ key, waitingSinceMs });
  const current = (key: string, sinceMs: number): CurrentGroup => ({ key, sinceMs });

  it('is the only one there is, however long', () => {
    expect(nextKey([member('a', 0), member('a', 5)], current('a', 0), 1e6)).toBe('a');
    expect(nextKey([member('b', 0)], current('a', 0), 1)).toBe('b');
  });

  it('stays for a turn, and then is that of the stream that stood still the longest', () => {
    const members = [member('a', 90), member('b', 20), member('c', 10), member('b', 30)];
    expect(nextKey(members, current('a', 0), 99)).toBe('a');
    expect(nextKey(members, current('a', 0), 100)).toBe('c');
  });

  it('serves every stream within as many turns as there are groups', () => {
    const stands = new Map(['', 'a', 'b', 'c'].map((key): [string, number] => [key, 0]));
    let group = current('', 0);
    let longestMs = 0;
    for (let nowMs = 0; nowMs < 10_000; nowMs += 25) {
      const members = [...stands].map(([key, waitingSinceMs]) => ({ key, waitingSinceMs }));
      const key = nextKey(members, group, nowMs);
      if (key !== group.key) group = { key, sinceMs: nowMs };
      longestMs = Math.max(longestMs, nowMs - (stands.get(key) ?? 0));
      stands.set(key, nowMs);
    }
    expect(longestMs).toBeLessThanOrEqual(325);
    expect(stands.size).toBe(4);
  });
});
