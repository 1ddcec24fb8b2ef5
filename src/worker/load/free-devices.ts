/** The devices other than the CPU that a load may use, and their free memory. */
import type { MeasureSpec } from '../../contract/load.ts';
import { type DeviceBytes, HOST_DEVICE } from '../../contract/memory.ts';
import type { LoadOptions, NativeBackend } from '../native.ts';

/** A file with its options, before placement. */
export interface UnplacedLoad {
  readonly spec: Pick<MeasureSpec, 'path' | 'kind' | 'settings' | 'experts'>;
  readonly options: LoadOptions;
}

/** A device that is completely full has no memory for its display and other programs. */
const FILLED_AT_MOST = 0.95;

/**
 * Memory that a GPU's library allocates after a load, without a report: its context, handles of its own libraries, and
 * buffers for large batches. 170 to 600 MiB were seen on an H100.
 */
const RUNTIME_BYTES = 512 * 2 ** 20;

/** Of all devices of the load together: the library assigns layers to devices. */
export function usableBytes(backend: NativeBackend, { settings: { gpu } }: UnplacedLoad['spec']): number {
  return backend
    .devices()
    .filter(({ name, kind }) => (Array.isArray(gpu) ? gpu.includes(name) : kind !== 'cpu'))
    .reduce((sum, device) => sum + usableShare(device.freeBytes), 0);
}

export function usableShare(freeBytes: number): number {
  return Math.max(0, Math.min(freeBytes * FILLED_AT_MOST, freeBytes - RUNTIME_BYTES));
}

/** Memory on devices other than the CPU. */
export function onDevices(bytes: readonly DeviceBytes[]): number {
  return bytes
    .filter(({ device }) => device !== HOST_DEVICE)
    .reduce((sum, each) => sum + each.modelBytes + each.contextBytes + each.computeBytes, 0);
}
