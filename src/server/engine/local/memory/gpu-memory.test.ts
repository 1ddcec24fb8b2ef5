import { expect, it } from 'vitest';
import type { Device } from '../../../../contract/memory.ts';
import { GpuMemory } from './gpu-memory.ts';

const device = (name: string, kind: Device['kind'], freeBytes: number): Device => ({
  name,
  description: '',
  kind,
  totalBytes: 1_000,
  freeBytes,
});

it('what own models take and give back after a reading changes what is free', () => {
  const memory = new GpuMemory();
  const [early, late] = [{}, {}];
  memory.hold(early, [{ device: 'GPU0', bytes: 300 }]);
  memory.read([device('CPU', 'cpu', 900), device('GPU0', 'gpu', 600)], 'cuda');
  expect(memory.free()).toEqual([{ device: 'GPU0', bytes: 600 }]);
  memory.hold(late, [
    { device: 'GPU0', bytes: 200 },
    { device: 'CPU', bytes: 50 },
  ]);
  expect(memory.free()).toEqual([{ device: 'GPU0', bytes: 400 }]);
  memory.release(early);
  expect(memory.free()).toEqual([{ device: 'GPU0', bytes: 700 }]);
});

it('what is no GPU counts as memory of the machine', () => {
  const memory = new GpuMemory();
  memory.read([device('GPU0', 'gpu', 600), device('BLAS', 'accel', 0)], 'cuda');
  const charged = memory.charge([
    { device: 'CPU', bytes: 1 },
    { device: 'BLAS', bytes: 2 },
    { device: 'GPU0', bytes: 4 },
  ]);
  expect(charged).toEqual([
    { device: 'CPU', bytes: 3 },
    { device: 'GPU0', bytes: 4 },
  ]);
});

it.each([
  ['igpu', 'vulkan'],
  ['gpu', 'metal'],
] as const)('a device of kind %s under %s holds its part in the memory of the machine', (kind, gpu) => {
  const memory = new GpuMemory();
  memory.read([device('G', kind, 600)], gpu);
  expect(memory.charge([{ device: 'G', bytes: 4 }])).toEqual([
    { device: 'CPU', bytes: 4 },
    { device: 'G', bytes: 4, within: 'CPU' },
  ]);
});

it('a GPU that does not tell its size is no limit', () => {
  const memory = new GpuMemory();
  memory.read([{ ...device('G', 'gpu', 0), totalBytes: 0 }], 'vulkan');
  expect(memory.free()).toEqual([{ device: 'G', bytes: Number.POSITIVE_INFINITY }]);
});
