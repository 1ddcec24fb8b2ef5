import { DEVICE_TYPES } from '../../../../packages/llama-api/src/enums.ts';
import type { Pointer } from './layouts.ts';
import type { Library } from './open.ts';

export function devicePointers(library: Library): Pointer[] {
  return Array.from({ length: library.ggml_backend_dev_count() }, (_, i) => library.ggml_backend_dev_get(i));
}

export function cpuDevice(library: Library): Pointer | null {
  return (
    devicePointers(library).find((device) => library.ggml_backend_dev_type(device) === DEVICE_TYPES.cpu) ??
    null
  );
}
