/** The exit code of several verdicts. */
import { describe, expect, it } from 'vitest';
import { worstOf } from './evidence.ts';

describe('the exit code of several files', () => {
  it.each([
    [[0, 2, 4, 3, 1], 1],
    [[0, 2, 4, 3], 3],
    [[0, 2, 4], 4],
    [[0, 2], 2],
    [[0], 0],
  ] as const)('of %j is %d', (codes, worst) => {
    expect(worstOf(codes.map((exitCode) => ({ exitCode })))).toBe(worst);
  });
});
