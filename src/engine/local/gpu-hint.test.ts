import { describe, expect, it } from 'vitest';
import type { BackendFacts, GpuSupport } from '../../contract/load.ts';
import { gpuHint } from './local-backend.ts';

const CUDA: GpuSupport = { kind: 'cuda', missing: [], installed: false };
const VULKAN: GpuSupport = { kind: 'vulkan', missing: [], installed: false };

function facts(gpuSupport: GpuSupport[], gpu = 'none'): BackendFacts {
  return { folder: '', mapped: [], systemInfo: '', gpu, cpuMathCores: 2, gpuSupport };
}

describe('the hint at the start', () => {
  it('names the command for the first kind that lacks nothing but its package', () => {
    expect(gpuHint('auto', facts([CUDA, VULKAN]))).toContain('hearth gpu install cuda');
    expect(gpuHint('auto', facts([{ ...CUDA, missing: ['a driver'] }, VULKAN]))).toContain(
      'hearth gpu install vulkan',
    );
  });

  it.each([
    ['the operator chose', 'off', facts([CUDA])],
    ['a GPU is used', 'auto', facts([CUDA], 'vulkan')],
    ['a package is installed', 'auto', facts([CUDA, { ...VULKAN, installed: true }])],
    ['the system lacks something', 'auto', facts([{ ...CUDA, missing: ['a driver'] }])],
    ['the platform has no such packages', 'auto', facts([])],
  ])('says nothing where %s', (_, setting, given) => {
    expect(gpuHint(setting, given)).toBeNull();
  });
});
