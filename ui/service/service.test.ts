import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergePatched } from './merge-patch.ts';

/** The examples of RFC 7396. */
const EXAMPLES: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('a merge patch', () => {
  it.each(EXAMPLES)('of %j by %j is %j', (value, patch, result) => {
    expect(mergePatched(value, patch)).toEqual(result);
  });

  it('leaves what it does not name as the same object, and changes nothing in place', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, patch) => {
        const before = JSON.stringify(value);
        mergePatched(value, patch);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
    const kept = { deep: [1] };
    expect((mergePatched({ kept, other: 1 }, { other: 2 }) as { kept: object }).kept).toBe(kept);
  });
});
