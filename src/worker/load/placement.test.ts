import { describe, expect, it } from 'vitest';
import { layersThatFit, usableShare } from './placement.ts';

const GIB = 2 ** 30;

describe('layers on a device', () => {
  it('are as many as fit', () => {
    expect(layersThatFit({ oneBytes: 200, twoBytes: 300 }, 1000)).toBe(9);
    expect(layersThatFit({ oneBytes: 200, twoBytes: 300 }, 299)).toBe(1);
  });

  it('are none where not even the output layer fits', () => {
    expect(layersThatFit({ oneBytes: 200, twoBytes: 300 }, 199)).toBe(0);
  });

  it('leave room for what a GPU library takes after the load', () => {
    expect(usableShare(GIB / 4)).toBe(0);
    expect(usableShare(GIB)).toBe(GIB / 2);
    expect(usableShare(80 * GIB)).toBe(76 * GIB);
  });
});
