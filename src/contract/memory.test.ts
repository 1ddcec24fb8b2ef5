import { describe, expect, it } from 'vitest';
import { noMemoryLine } from './memory.ts';

describe('the line of a log that reports a refused allocation', () => {
  it.each([
    'allocating 4455.34 MiB on device 0: cudaMalloc failed: out of memory',
    'failed to allocate CUDA0 buffer of size 4671766528',
    'unable to allocate Vulkan0 buffer',
    'Device memory allocation of size 4671766528 failed.',
    'vk::Device::allocateMemory: ErrorOutOfDeviceMemory',
    'error: failed to allocate buffer, size = 4455.34 MiB',
    'insufficient memory (attempted to allocate 4455.34 MB)',
    'CUDA error: out of memory',
  ])('is found: %s', (line) => {
    expect(noMemoryLine(`loading\n${line}\nGGML_ASSERT failed`)).toBe(line);
  });

  it.each(['', 'tensor blk.0.attn_q.weight has wrong shape', 'failed to open the file', 'memory 4 of 8 GiB'])(
    'is not found in: %s',
    (log) => {
      expect(noMemoryLine(log)).toBeNull();
    },
  );
});
