import fc from 'fast-check';
import { expect, it } from 'vitest';
import { generateJob } from '../../../../../test/support/engine/jobs.ts';
import type { Turn } from '../../../../contract/job.ts';
import { hashPrefixes, sessionHash } from './affinity.ts';
import { PrefixIndex } from './prefix-index.ts';

const most = 64;
const of = (turns: readonly Turn[], over = {}) =>
  hashPrefixes(generateJob({ prompt: { kind: 'chat', turns: [...turns] }, ...over }), most);
const turn = (role: Turn['role'], content: string): Turn => ({ role, content });
const hashes = (list: readonly { readonly hash: number }[]) => list.map(({ hash }) => hash);

it('a conversation that goes on begins with the prefixes of what it was', () => {
  const before = [turn('system', 'x'.repeat(5_000)), turn('user', 'hello')];
  const after = [...before, turn('assistant', 'hi'), turn('user', 'and now?')];
  const earlier = hashes(of(before));
  expect(hashes(of(after)).slice(0, earlier.length)).toEqual(earlier);
  expect(of(after)).toHaveLength(earlier.length + 2);
});

it('what differs early shares nothing from there on', () => {
  const one = of([turn('system', 'a'), turn('user', 'same')]);
  const other = of([turn('system', 'b'), turn('user', 'same')]);
  expect(new Set([...hashes(one), ...hashes(other)]).size).toBe(one.length + other.length);
});

it('long turns that differ at their end share their beginning', () => {
  const one = hashes(of([turn('system', `${'x'.repeat(9_000)}Monday`)]));
  const other = hashes(of([turn('system', `${'x'.repeat(9_000)}Tuesday`)]));
  expect(one.slice(0, -1)).toEqual(other.slice(0, -1));
  expect(one.at(-1)).not.toBe(other.at(-1));
  expect(one.length).toBeGreaterThan(4);
});

it('where a text is divided into turns matters, and so do roles and tools', () => {
  const texts = [[turn('user', 'ab')], [turn('user', 'a'), turn('user', 'b')], [turn('assistant', 'ab')]].map(
    (turns) => of(turns).at(-1)?.hash,
  );
  const tools = [{ name: 'f', description: '', parameters: {} }];
  expect(new Set([...texts, of([turn('user', 'ab')], { tools }).at(-1)?.hash]).size).toBe(4);
});

it('a prompt has a bounded number of prefixes: the first of all, and the last', () => {
  const turns = Array.from({ length: 500 }, (_, index) => turn('user', String(index)));
  const all = hashPrefixes(generateJob({ prompt: { kind: 'chat', turns } }), 10_000);
  const few = of(turns);
  expect(few).toHaveLength(most);
  expect(few[0]).toEqual(all[0]);
  expect(few.at(-1)).toEqual(all.at(-1));
});

it('ten thousand texts have ten thousand hashes', () => {
  const seen = new Set(Array.from({ length: 10_000 }, (_, index) => sessionHash(`session ${index}`)));
  expect(seen.size).toBe(10_000);
});

it('the index tells the longest share that each upstream knows, within its bound', () => {
  const prefixes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }).map((cuts) => {
    let hash = 0;
    return cuts.map((cut, index) => {
      hash = hash * 13 + cut;
      return { hash, length: index + 1 };
    });
  });
  const upstream = fc.constantFrom('a', 'b', 'c');
  fc.assert(
    fc.property(
      fc.array(fc.tuple(prefixes, upstream)),
      prefixes,
      fc.option(upstream),
      (learned, asked, lost) => {
        const index = new PrefixIndex(1_000);
        for (const [list, id] of learned) index.learn(list, id);
        if (lost !== null) index.forget(lost);
        const expected = new Map<string, number>();
        for (const [list, id] of learned) {
          const known = asked.filter(({ hash }) => list.some((other) => other.hash === hash)).length;
          if (known > 0 && id !== lost)
            expected.set(id, Math.max(expected.get(id) ?? 0, known / asked.length));
        }
        expect(Object.fromEntries(index.shares(asked))).toEqual(Object.fromEntries(expected));
      },
    ),
  );
});

it('the index forgets what was used least recently', () => {
  const index = new PrefixIndex(3);
  const one = (hash: number) => [{ hash, length: 1 }];
  for (const hash of [1, 2, 3]) index.learn(one(hash), 'a');
  index.learn(one(1), 'b');
  index.learn(one(4), 'a');
  expect(index.size).toBe(3);
  expect([1, 2, 3, 4].map((hash) => index.shares(one(hash)).size)).toEqual([2, 0, 1, 1]);
});
