import { describe, expect, it } from 'vitest';
import { allFit, layersThatFit } from './device-layers.ts';

describe('layers on a device', () => {
  it('are as many as fit, and leave some room', () => {
    expect(layersThatFit({ oneBytes: 200, twoBytes: 300 }, 1000)).toBe(8);
    expect(layersThatFit({ oneBytes: 200, twoBytes: 300 }, 300)).toBe(1);
  });

  it('are none where not even the output layer fits', () => {
    expect(layersThatFit({ oneBytes: 200, twoBytes: 300 }, 200)).toBe(0);
  });

  it('fit altogether up to what a device may be filled to', () => {
    expect(allFit(950, 1000)).toBe(true);
    expect(allFit(951, 1000)).toBe(false);
  });
});
