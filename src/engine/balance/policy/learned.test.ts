import { expect, it } from 'vitest';
import { DEFAULT_BALANCE_LIMITS as limits } from '../limits.ts';
import { expectedMs, learn } from './learned.ts';

it('follows what is seen, and fades while nothing is', () => {
  expect(expectedMs(null, 0, limits)).toBeNull();
  let learned = learn(null, 100, 0);
  expect(expectedMs(learned, 0, limits)).toBe(100);
  for (let count = 0; count < 50; count += 1) learned = learn(learned, 500, 0);
  expect(expectedMs(learned, 0, limits)).toBeCloseTo(500, 0);
  expect(expectedMs(learned, limits.learnedHalfLifeMs, limits)).toBeCloseTo(250, 0);
});
