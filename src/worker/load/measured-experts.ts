/** Experts placed by what a load takes: the library is asked, for mixtures on devices beside the CPU only. */
import type { MeasureSpec } from '../../contract/load.ts';
import { type DeviceBytes, HOST_DEVICE } from '../../contract/memory.ts';
import type { ContextOptions, LoadOptions, NativeBackend } from '../native.ts';
import { expertBuffers, layersOnCpu } from './expert-placement.ts';
import { usesDevices } from './load-options.ts';

/** A file, and how it is to be opened but for its experts. */
export interface UnplacedLoad {
  readonly spec: Pick<MeasureSpec, 'path' | 'kind' | 'settings' | 'experts'>;
  readonly options: LoadOptions;
}

type Layers = ReturnType<typeof layersOnCpu>;

export async function withExperts(
  backend: NativeBackend,
  load: UnplacedLoad,
  context: ContextOptions,
): Promise<LoadOptions> {
  if (!isPlacedHere(backend, load)) return load.options;
  const [bytes = []] = await backend.measure(load.spec.path, load.options, [context]);
  return placed(load.options, layersFor(backend, load, bytes));
}

/** What each context takes, with as many experts on the CPU as a load of it would leave there. */
export async function measureWithExperts(
  backend: NativeBackend,
  load: UnplacedLoad,
  contexts: readonly ContextOptions[],
): Promise<(readonly DeviceBytes[])[]> {
  const { spec, options } = load;
  const found = [...(await backend.measure(spec.path, options, contexts))];
  if (!isPlacedHere(backend, load)) return found;
  const layers = found.map((bytes) => layersFor(backend, load, bytes));
  // Opening the file costs far more than a context, so those with the same experts are asked about together.
  for (const count of new Set(layers.filter((each) => each !== 0))) {
    const places = [...layers.keys()].filter((place) => layers[place] === count);
    const alike = contexts.filter((_, place) => places.includes(place));
    const measured = await backend.measure(spec.path, placed(options, count), alike);
    places.forEach((place, at) => {
      found[place] = measured[at] ?? [];
    });
  }
  return found;
}

/** Embedding models are small: theirs go where their layers go. */
function isPlacedHere(backend: NativeBackend, { spec }: UnplacedLoad): boolean {
  const { kind, settings, experts } = spec;
  const isAuto = (settings.cpuMoe ?? 'auto') === 'auto';
  return kind === 'chat' && isAuto && experts !== null && usesDevices(backend, settings);
}

function layersFor(backend: NativeBackend, { spec }: UnplacedLoad, bytes: readonly DeviceBytes[]): Layers {
  const needBytes = bytes
    .filter(({ device }) => device !== HOST_DEVICE)
    .reduce((sum, each) => sum + each.modelBytes + each.contextBytes + each.computeBytes, 0);
  return layersOnCpu('auto', spec.experts, { needBytes, freeBytes: freeBytes(backend, spec) });
}

/** Of the devices that the load may use, together: which layer goes to which is the library's choice. */
function freeBytes({ facts }: NativeBackend, { settings: { gpu } }: UnplacedLoad['spec']): number {
  return (facts.devices ?? [])
    .filter(({ name, kind }) => (Array.isArray(gpu) ? gpu.includes(name) : kind !== 'cpu'))
    .reduce((sum, device) => sum + device.freeBytes, 0);
}

function placed(options: LoadOptions, layers: Layers): LoadOptions {
  return { ...options, tensorBuffers: [...options.tensorBuffers, ...expertBuffers(layers)] };
}
