import { describe, expect, it } from 'vitest';
import { windowFor } from './context.ts';

describe('window', () => {
  it.each([
    [1, 4096, 1024],
    [1024, 4096, 1024],
    [1025, 4096, 2048],
    [4097, 40_960, 8192],
    [33_000, 40_960, 40_960],
    [200, 512, 512],
    [200, 300, 512],
  ])('of %i tokens in a model of %i is %i', (tokens, model, window) => {
    expect(windowFor(tokens, model)).toBe(window);
  });
});
