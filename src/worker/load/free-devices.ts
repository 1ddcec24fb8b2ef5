/** The devices beside the CPU that a load may use, and what they have free. */
import type { MeasureSpec } from '../../contract/load.ts';
import { type DeviceBytes, HOST_DEVICE } from '../../contract/memory.ts';
import type { LoadOptions, NativeBackend } from '../native.ts';

/** A file, and how it is to be opened but for what is placed by measure. */
export interface UnplacedLoad {
  readonly spec: Pick<MeasureSpec, 'path' | 'kind' | 'settings' | 'experts'>;
  readonly options: LoadOptions;
}

/** A device that is filled to the last byte has none for what else it shows or computes. */
const FILLED_AT_MOST = 0.95;

/**
 * What a GPU's library takes later than a load and tells nobody: its context, handles of its own libraries, and buffers for
 * large batches. 170 to 600 MiB were seen on an H100.
 */
const RUNTIME_BYTES = 512 * 2 ** 20;

/** Of the devices that the load may use, together: which layer goes to which is the library's choice. */
export function usableBytes(backend: NativeBackend, { settings: { gpu } }: UnplacedLoad['spec']): number {
  return backend
    .devices()
    .filter(({ name, kind }) => (Array.isArray(gpu) ? gpu.includes(name) : kind !== 'cpu'))
    .reduce((sum, device) => sum + usableShare(device.freeBytes), 0);
}

export function usableShare(freeBytes: number): number {
  return Math.max(0, Math.min(freeBytes * FILLED_AT_MOST, freeBytes - RUNTIME_BYTES));
}

/** What lies on devices beside the CPU. */
export function onDevices(bytes: readonly DeviceBytes[]): number {
  return bytes
    .filter(({ device }) => device !== HOST_DEVICE)
    .reduce((sum, each) => sum + each.modelBytes + each.contextBytes + each.computeBytes, 0);
}
