import { describe, expect, it } from 'vitest';
import { expertBuffers, layersOnCpu } from './expert-placement.ts';

const GIB = 1024 ** 3;
const experts = { layerBytes: [0, 2 * GIB, 2 * GIB, 2 * GIB] };
const room = (needGib: number | null, usableGib: number) => ({
  needBytes: needGib === null ? null : needGib * GIB,
  usableBytes: usableGib * GIB,
});

describe('experts that stay on the CPU', () => {
  it.each([
    [8, 10, 0],
    [8, 7.9, 2],
    [8, 6, 2],
    [8, 5.9, 3],
    [8, 2.5, 'all'],
    [8, 1, 'all'],
  ] as const)('of a model of %i GiB with %d GiB to use are those of %s layers', (need, free, layers) => {
    expect(layersOnCpu('auto', experts, room(need, free))).toBe(layers);
    expect(layersOnCpu(undefined, experts, room(need, free))).toBe(layers);
  });

  it('are those that the user says, whatever fits', () => {
    expect(layersOnCpu('off', experts, room(8, 1))).toBe(0);
    expect(layersOnCpu('all', null, room(8, 100))).toBe('all');
    expect(layersOnCpu(3, null, room(null, 0))).toBe(3);
  });

  it('are none where there is no other device, no expert, or no measurement', () => {
    expect(layersOnCpu('all', experts, null)).toBe(0);
    expect(layersOnCpu('auto', null, room(8, 1))).toBe(0);
    expect(layersOnCpu('auto', experts, room(null, 1))).toBe(0);
  });
});

describe('the patterns', () => {
  const matched = (layers: number | 'all', names: readonly string[]) => {
    const patterns = expertBuffers(layers).map(({ pattern }) => new RegExp(pattern));
    return names.filter((name) => patterns.some((pattern) => pattern.test(name)));
  };
  const NAMES = [
    'blk.0.ffn_up_exps.weight',
    'blk.1.ffn_gate_up_exps.weight',
    'blk.1.ffn_down_exps.bias',
    'blk.1.ffn_up_chexps.weight',
    'blk.10.ffn_up_exps.weight',
  ];
  const OTHERS = ['blk.0.ffn_up_shexp.weight', 'blk.0.ffn_up.weight', 'blk.1.ffn_gate_inp.weight'];

  it('match the experts of all layers, and nothing else', () => {
    expect(matched('all', [...NAMES, ...OTHERS])).toEqual(NAMES);
  });

  it('match those of the first layers, and layer 10 is not layer 1', () => {
    expect(matched(2, [...NAMES, ...OTHERS])).toEqual(NAMES.slice(0, 4));
    expect(matched(0, NAMES)).toEqual([]);
  });

  it('keep the experts in the memory of the CPU', () => {
    expect(new Set([...expertBuffers(2), ...expertBuffers('all')].map(({ buffer }) => buffer))).toEqual(
      new Set(['CPU']),
    );
  });
});
