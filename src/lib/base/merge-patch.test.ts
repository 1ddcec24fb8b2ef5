import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergePatch, mergePatched } from './merge-patch.ts';

/** Any JSON but null, which has no place in what is patched. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.array(fc.integer(), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.string()), tie('value'), {
    maxKeys: 4,
  }),
}));

describe('a merge patch', () => {
  it('turns any object into any other', () => {
    fc.assert(
      fc.property(json.object, json.object, (before, after) => {
        const patch = mergePatch(before, after);
        const sent: unknown = patch === undefined ? {} : JSON.parse(JSON.stringify(patch));
        expect(JSON.stringify(sorted(mergePatched(before, sent)))).toBe(JSON.stringify(sorted(after)));
      }),
    );
  });

  it('names what changed and nothing else', () => {
    const before = { same: { deep: 1 }, list: [1, 2], gone: 'x', count: 1 };
    const after = { same: { deep: 1 }, list: [1, 3], count: 2, fresh: { a: 1 } };
    expect(mergePatch(before, after)).toEqual({ gone: null, list: [1, 3], count: 2, fresh: { a: 1 } });
    expect(mergePatch(before, structuredClone(before))).toBeUndefined();
  });

  it('changes neither of what it is given', () => {
    const value = Object.freeze({ a: Object.freeze({ b: 1 }) });
    expect(mergePatched(value, { a: { b: null, c: 2 } })).toEqual({ a: { c: 2 } });
    expect(value).toEqual({ a: { b: 1 } });
  });
});

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const names = Object.keys(value).toSorted();
  return names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]);
}
