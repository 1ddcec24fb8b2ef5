/** The devices beside the CPU that a load may use, and what they have free. */
import type { MeasureSpec } from '../../contract/load.ts';
import { type DeviceBytes, HOST_DEVICE } from '../../contract/memory.ts';
import type { LoadOptions, NativeBackend } from '../native.ts';

/** A file, and how it is to be opened but for what is placed by measure. */
export interface UnplacedLoad {
  readonly spec: Pick<MeasureSpec, 'path' | 'kind' | 'settings' | 'experts'>;
  readonly options: LoadOptions;
}

/** Of the devices that the load may use, together: which layer goes to which is the library's choice. */
export function freeBytes(backend: NativeBackend, { settings: { gpu } }: UnplacedLoad['spec']): number {
  return backend
    .devices()
    .filter(({ name, kind }) => (Array.isArray(gpu) ? gpu.includes(name) : kind !== 'cpu'))
    .reduce((sum, device) => sum + device.freeBytes, 0);
}

/** What lies on devices beside the CPU. */
export function onDevices(bytes: readonly DeviceBytes[]): number {
  return bytes
    .filter(({ device }) => device !== HOST_DEVICE)
    .reduce((sum, each) => sum + each.modelBytes + each.contextBytes + each.computeBytes, 0);
}
