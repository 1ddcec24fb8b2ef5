import { expect, it } from 'vitest';
import { type FieldRows, idleFields, refuseFields } from './fields.ts';

interface Body {
  readonly a?: { readonly b?: unknown } | null;
  readonly c?: unknown;
}

const rows: FieldRows<Body> = {
  'a.b': { isIdle: (_, canThink) => !canThink },
  c: { refused: ({ a }) => (a === undefined ? null : 'is not possible beside a'), isIdle: () => true },
  toString: { refused: () => 'is never given', isIdle: () => true },
};

it.each<[Body, boolean, string[]]>([
  [{}, false, []],
  [{ a: null, c: null }, false, []],
  [{ a: { b: 0 }, c: false }, false, ['a.b', 'c']],
  [{ a: { b: 0 }, c: '' }, true, ['c']],
])('fields without effect in %j, thinking %j: %j', (body, canThink, paths) => {
  expect(idleFields(body, rows, canThink)).toEqual(paths);
});

it('a row refuses a field that is given, by its path', () => {
  expect(() => refuseFields({ c: 1 }, rows)).not.toThrow();
  expect(() => refuseFields({ a: null, c: 1 }, rows)).toThrow('c is not possible beside a');
});
