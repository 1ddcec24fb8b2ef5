/** What the library can compute on, behind the page. */
import type { Device } from '../../contract/memory.ts';
import { DEVICE_TYPES, nameOf } from '../../lib/llama-api/enums.ts';
import { devicePointers } from './library/devices.ts';
import type { Pointer } from './library/layouts.ts';
import type { Library } from './library/open.ts';

export function describeDevices(library: Library): Device[] {
  return devicePointers(library).map((device) => describe(library, device));
}

/** What the first GPU is computed with, such as `cuda`, `rocm` or `sycl`; null where the library finds none. */
export function gpuKindOf(library: Library): string | null {
  const gpu = devicePointers(library).find((device) => isGpu(describe(library, device)));
  if (gpu === undefined) return null;
  const name = library.ggml_backend_reg_name(library.ggml_backend_dev_backend_reg(gpu)).toLowerCase();
  return name === 'mtl' ? 'metal' : name;
}

export const isGpu = ({ kind }: Pick<Device, 'kind'>): boolean => kind === 'gpu' || kind === 'igpu';

function describe(library: Library, device: Pointer): Device {
  const free: [number] = [0];
  const total: [number] = [0];
  library.ggml_backend_dev_memory(device, free, total);
  return {
    name: library.ggml_backend_dev_name(device),
    description: library.ggml_backend_dev_description(device),
    kind: kindOf(library.ggml_backend_dev_type(device)),
    totalBytes: total[0],
    freeBytes: free[0],
  };
}

/** A device that only stands for several others has no memory of its own. */
function kindOf(type: number): Device['kind'] {
  const kind = nameOf(DEVICE_TYPES, type);
  return kind === undefined || kind === 'meta' ? 'accel' : kind;
}
