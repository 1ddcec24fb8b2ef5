import { expect, it } from 'vitest';
import { poolThreads } from './pool-threads.ts';

it('one thread for chat where the engine needs all cores, several for inputs that are computed side by side', () => {
  expect([1, 2, 4, 16].map((cores) => poolThreads('chat', cores))).toEqual([1, 1, 4, 8]);
  expect([1, 2, 4, 16].map((cores) => poolThreads('embedding', cores))).toEqual([4, 4, 4, 8]);
});
