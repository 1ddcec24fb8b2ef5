/** Experts placed by what a load takes: the library is asked, for mixtures on devices beside the CPU only. */
import type { DeviceBytes } from '../../contract/memory.ts';
import type { ContextOptions, LoadOptions, NativeBackend } from '../native.ts';
import { expertBuffers, layersOnCpu } from './expert-placement.ts';
import { freeBytes, type UnplacedLoad } from './free-devices.ts';
import { usesDevices } from './load-options.ts';
import { onDevices } from './measured-layers.ts';

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
  return layersOnCpu('auto', spec.experts, {
    needBytes: onDevices(bytes),
    freeBytes: freeBytes(backend, spec),
  });
}

function placed(options: LoadOptions, layers: Layers): LoadOptions {
  return { ...options, tensorBuffers: [...options.tensorBuffers, ...expertBuffers(layers)] };
}
