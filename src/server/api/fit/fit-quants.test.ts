import { describe, expect, it } from 'vitest';
import { fitQuants } from './fit-quants.ts';

const gib = 2 ** 30;
const quants = [
  { label: 'Q2_K', sizeBytes: 3 * gib },
  { label: 'Q4_K_M', sizeBytes: 5 * gib },
  { label: 'Q8_0', sizeBytes: 8 * gib },
];

describe('advice on quants', () => {
  it.each([
    ['the usual one where it fits, however much is free', 64, 'Q4_K_M'],
    ['a smaller one where only that fits', 5, 'Q2_K'],
    ['none where nothing fits', 3, null],
  ])('%s', (_what, freeGib, advised) => {
    expect(fitQuants(quants, freeGib * gib).advised).toBe(advised);
  });

  it('leaves room for the KV cache', () => {
    const [, usual] = fitQuants(quants, 6 * gib).quants;
    expect(usual).toMatchObject({ label: 'Q4_K_M', fits: false });
  });
});
