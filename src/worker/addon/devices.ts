import type { Device } from '../../contract/memory.ts';
import { DEVICE_TYPES, enumName } from '../../../packages/llama-api/src/enums.ts';
import { devicePointers } from './library/devices.ts';
import type { Pointer } from './library/layouts.ts';
import type { Library } from './library/open.ts';

export function describeDevices(library: Library): Device[] {
  return devicePointers(library).map((device) => describe(library, device));
}

export function firstGpuKind(library: Library): string | null {
  const gpu = devicePointers(library).find((device) => isGpu(describe(library, device)));
  if (gpu === undefined) return null;
  const name = library.ggml_backend_reg_name(library.ggml_backend_dev_backend_reg(gpu)).toLowerCase();
  return name === 'mtl' ? 'metal' : name;
}

export const isGpu = ({ kind }: Pick<Device, 'kind'>): boolean => kind === 'gpu' || kind === 'igpu';

/** Vulkan on the CPU is slower than the CPU backend. */
const SOFTWARE = /llvmpipe|lavapipe|swiftshader|microsoft basic render/i;
export const ALLOWS_SOFTWARE = process.env['HEARTH_TEST_SOFTWARE_GPU'] === '1';

function describe(library: Library, device: Pointer): Device {
  const free: [number] = [0];
  const total: [number] = [0];
  library.ggml_backend_dev_memory(device, free, total);
  const description = library.ggml_backend_dev_description(device);
  const isSoftware = SOFTWARE.test(description) && !ALLOWS_SOFTWARE;
  return {
    name: library.ggml_backend_dev_name(device),
    description,
    kind: isSoftware ? 'cpu' : deviceKind(library.ggml_backend_dev_type(device)),
    totalBytes: total[0],
    freeBytes: free[0],
  };
}

/** A device that only combines several others has no memory of its own. */
function deviceKind(type: number): Device['kind'] {
  const kind = enumName(DEVICE_TYPES, type);
  return kind === undefined || kind === 'meta' ? 'accel' : kind;
}
