import { expect, it } from 'vitest';
import { memoizeByObject } from './memoize-by-object.ts';

it('makes once for each object, what is nothing too', () => {
  const asked: object[] = [];
  const made = memoizeByObject((given: object) => void asked.push(given));
  const [one, other] = [{}, {}];
  for (const given of [one, one, other, one]) expect(made(given)).toBeUndefined();
  expect(asked).toEqual([one, other]);
});
