/**
 * Places a load by measured memory: which experts stay on the CPU, and how many layers go to other devices. Loads and
 * memory estimates share this code, so they cannot differ.
 */
import { type DeviceBytes, HOST_DEVICE } from '../../contract/memory.ts';
import type { ContextOptions, LoadOptions, NativeBackend } from '../native.ts';
import { expertBuffers, layersOnCpu } from './expert-placement.ts';
import { ofAllContexts } from './load.ts';
import { usesDevices } from './load-options.ts';
import type { MeasureSpec } from '../../contract/load.ts';

interface PlacedLoad {
  readonly contexts: readonly ContextOptions[];
  readonly options: LoadOptions;
  readonly bytes: readonly DeviceBytes[] | null;
}

type MeasuredLoad = PlacedLoad & { readonly bytes: readonly DeviceBytes[] };

export async function placedLoads(
  backend: NativeBackend,
  load: UnplacedLoad,
  contextsOfEach: readonly (readonly ContextOptions[])[],
): Promise<PlacedLoad[]> {
  const { options, spec } = load;
  const unplaced = contextsOfEach.map((contexts): PlacedLoad => ({ contexts, options, bytes: null }));
  const [placesExperts, placesLayers] = [mayPlaceExperts(backend, load), mayPlaceLayers(backend, load)];
  if (!placesExperts && !placesLayers) return unplaced;
  const usable = usableBytes(backend, spec);
  const whole = await measured(backend, spec.path, unplaced);
  const withExperts = placesExperts ? whole.map((each) => expertsPlaced(each, load, usable)) : whole;
  return placesLayers ? layersPlaced(backend, load, withExperts) : withExperts;
}

/** Measures loads with equal options together: opening the file costs most. */
export async function measured(
  backend: NativeBackend,
  path: string,
  loads: readonly PlacedLoad[],
): Promise<MeasuredLoad[]> {
  const alike = new Map<string, PlacedLoad[]>();
  for (const load of loads.filter(({ bytes }) => bytes === null)) {
    const key = JSON.stringify(load.options);
    alike.set(key, [...(alike.get(key) ?? []), load]);
  }
  const found = new Map<PlacedLoad, readonly DeviceBytes[]>();
  for (const group of alike.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const answers = [
      ...(await backend.measure(
        path,
        first.options,
        group.flatMap(({ contexts }) => contexts),
      )),
    ];
    for (const load of group) found.set(load, ofAllContexts(answers.splice(0, load.contexts.length)));
  }
  return loads.map((load) => ({ ...load, bytes: load.bytes ?? found.get(load) ?? [] }));
}

/** Embedding models are small: their experts are placed with their layers. */
function mayPlaceExperts(backend: NativeBackend, { spec }: UnplacedLoad): boolean {
  const { kind, settings, experts } = spec;
  const isAuto = (settings.cpuMoe ?? 'auto') === 'auto';
  return kind === 'chat' && isAuto && experts !== null && usesDevices(backend, settings);
}

function mayPlaceLayers(backend: NativeBackend, { spec, options }: UnplacedLoad): boolean {
  return options.gpuLayers === null && usesDevices(backend, spec.settings);
}

function expertsPlaced(whole: MeasuredLoad, { spec }: UnplacedLoad, usable: number): PlacedLoad {
  const needBytes = onDevices(whole.bytes);
  const layers = layersOnCpu('auto', spec.experts, { needBytes, usableBytes: usable });
  if (layers === 0) return whole;
  const tensorBuffers = [...whole.options.tensorBuffers, ...expertBuffers(layers)];
  return { ...whole, options: { ...whole.options, tensorBuffers }, bytes: null };
}

async function layersPlaced(
  backend: NativeBackend,
  { spec }: UnplacedLoad,
  loads: readonly PlacedLoad[],
): Promise<PlacedLoad[]> {
  const usable = usableBytes(backend, spec);
  const whole = await measured(backend, spec.path, loads);
  const tight = whole.filter(({ bytes }) => onDevices(bytes) > usable);
  const at = async (gpuLayers: number): Promise<MeasuredLoad[]> =>
    measured(
      backend,
      spec.path,
      tight.map((load) => ({ ...load, options: { ...load.options, gpuLayers }, bytes: null })),
    );
  const [ones, twos] = [await at(1), await at(2)];
  return whole.map((load) => {
    const place = tight.indexOf(load);
    const [one, two] = [ones[place], twos[place]];
    if (one === undefined || two === undefined) return load;
    const needs = { oneBytes: onDevices(one.bytes), twoBytes: onDevices(two.bytes) };
    return { ...load, options: { ...load.options, gpuLayers: layersThatFit(needs, usable) }, bytes: null };
  });
}

interface LayerNeeds {
  /** Only the output layer, which moves first. */
  readonly oneBytes: number;
  readonly twoBytes: number;
}

/** Layers are alike except the output layer, so two figures give the size of each further one. */
export function layersThatFit({ oneBytes, twoBytes }: LayerNeeds, room: number): number {
  if (oneBytes > room) return 0;
  const layerBytes = Math.max(1, twoBytes - oneBytes);
  return 1 + Math.floor((room - oneBytes) / layerBytes);
}

interface UnplacedLoad {
  readonly spec: Pick<MeasureSpec, 'path' | 'kind' | 'settings' | 'experts'>;
  readonly options: LoadOptions;
}

/** A device that is completely full has no memory for its display and other programs. */
const FILLED_AT_MOST = 0.95;

/**
 * Memory that a GPU's library allocates after a load, without a report: its context, handles of its own libraries,
 * and buffers for large batches. Measured on an H100: 170 to 600 MiB.
 */
const RUNTIME_BYTES = 512 * 2 ** 20;

/** All devices of the load together: the library assigns layers to devices. */
function usableBytes(backend: NativeBackend, { settings: { gpu } }: UnplacedLoad['spec']): number {
  return backend
    .devices()
    .filter(({ name, kind }) => (Array.isArray(gpu) ? gpu.includes(name) : kind !== 'cpu'))
    .reduce((sum, device) => sum + usableShare(device.freeBytes), 0);
}

export function usableShare(freeBytes: number): number {
  return Math.max(0, Math.min(freeBytes * FILLED_AT_MOST, freeBytes - RUNTIME_BYTES));
}

function onDevices(bytes: readonly DeviceBytes[]): number {
  return bytes
    .filter(({ device }) => device !== HOST_DEVICE)
    .reduce((sum, each) => sum + each.modelBytes + each.contextBytes + each.computeBytes, 0);
}
