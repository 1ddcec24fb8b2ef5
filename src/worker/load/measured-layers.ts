/** Layers placed by what a load takes: where not all fit on the devices, the library is asked what each further one costs. */
import { type DeviceBytes, HOST_DEVICE } from '../../contract/memory.ts';
import type { ContextOptions, LoadOptions, NativeBackend } from '../native.ts';
import { allFit, layersThatFit } from './device-layers.ts';
import { freeBytes, type UnplacedLoad } from './free-devices.ts';
import { usesDevices } from './load-options.ts';

/** The options with as many layers on the devices as fit beside this context. */
export async function withLayers(
  backend: NativeBackend,
  load: UnplacedLoad,
  context: ContextOptions,
): Promise<LoadOptions> {
  const { spec, options } = load;
  if (!isPlacedHere(backend, load)) return options;
  const free = freeBytes(backend, spec);
  const needAt = async (gpuLayers: number | null): Promise<number> => {
    const [bytes = []] = await backend.measure(spec.path, { ...options, gpuLayers }, [context]);
    return onDevices(bytes);
  };
  if (allFit(await needAt(null), free)) return options;
  const needs = { oneBytes: await needAt(1), twoBytes: await needAt(2) };
  return { ...options, gpuLayers: layersThatFit(needs, free) };
}

/** What each context takes when as many layers are on the devices as a load of it would put there. */
export async function fittedMeasures(
  backend: NativeBackend,
  load: UnplacedLoad,
  measured: readonly MeasuredContext[],
): Promise<(readonly DeviceBytes[])[]> {
  const free = freeBytes(backend, load.spec);
  const tight = measured.filter(({ bytes }) => !allFit(onDevices(bytes), free));
  if (tight.length === 0 || !isPlacedHere(backend, load)) return measured.map(({ bytes }) => bytes);
  const at = async (gpuLayers: number): Promise<readonly (readonly DeviceBytes[])[]> => {
    const contexts = tight.map(({ context }) => context);
    return backend.measure(load.spec.path, { ...load.options, gpuLayers }, contexts);
  };
  const [ones, twos] = [await at(1), await at(2)];
  return measured.map((each) => {
    const place = tight.indexOf(each);
    const [one, two] = [ones[place], twos[place]];
    if (one === undefined || two === undefined) return each.bytes;
    const layers = layersThatFit({ oneBytes: onDevices(one), twoBytes: onDevices(two) }, free);
    return one.map((bytes) => extrapolated(bytes, two, layers - 1));
  });
}

export interface MeasuredContext {
  readonly context: ContextOptions;
  /** With every layer on the devices. */
  readonly bytes: readonly DeviceBytes[];
}

/** Each further layer changes a device by as much as the second one did. */
function extrapolated(one: DeviceBytes, two: readonly DeviceBytes[], steps: number): DeviceBytes {
  const next = two.find(({ device }) => device === one.device) ?? one;
  const along = (from: number, to: number): number => Math.max(0, from + steps * (to - from));
  return {
    device: one.device,
    modelBytes: along(one.modelBytes, next.modelBytes),
    contextBytes: along(one.contextBytes, next.contextBytes),
    computeBytes: Math.max(one.computeBytes, next.computeBytes),
  };
}

function isPlacedHere(backend: NativeBackend, { spec, options }: UnplacedLoad): boolean {
  return options.gpuLayers === null && usesDevices(backend, spec.settings);
}

export function onDevices(bytes: readonly DeviceBytes[]): number {
  return bytes
    .filter(({ device }) => device !== HOST_DEVICE)
    .reduce((sum, each) => sum + each.modelBytes + each.contextBytes + each.computeBytes, 0);
}
