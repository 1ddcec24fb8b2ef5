/** The devices that the library found: processors, GPUs, accelerators. */
import type { Pointer } from './layouts.ts';
import type { Library } from './open.ts';

/** ggml_backend_dev_type by number. */
export const DEVICE_KINDS = ['cpu', 'gpu', 'igpu', 'accel', 'meta'] as const;
const CPU = 0;

export function devicePointers(library: Library): Pointer[] {
  return Array.from({ length: library.ggml_backend_dev_count() }, (_, i) => library.ggml_backend_dev_get(i));
}

export function cpuDevice(library: Library): Pointer | null {
  return devicePointers(library).find((device) => library.ggml_backend_dev_type(device) === CPU) ?? null;
}
