/** Maps the settings of a load to the library's options: the second and last place that names each setting. */
import type { LoadSpec } from '../../contract/load.ts';
import { EXACT_LOAD, isExact } from '../../contract/settings/exact-rules.ts';
import { kvTypes } from '../../contract/settings/kv-types.ts';
import { LOAD_SETTINGS } from '../../contract/settings/load-settings.ts';
import type { LoadSettingName, LoadSettings, ModelSettings } from '../../contract/settings/shapes.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import type { LoadOptions, NativeBackend, RopeOptions } from '../native.ts';
import { expertBuffers, layersOnCpu } from './expert-placement.ts';

type OptionChoice = Pick<LoadSpec, 'modelId' | 'settings' | 'experts'> &
  Partial<Pick<LoadSpec, 'adapters' | 'draft'>>;
type OptionName = keyof LoadOptions;

/**
 * Throws `load_setting_unusable` for a setting that the bound library cannot apply. Experts are placed later, by
 * measured memory.
 */
export function loadOptions(backend: NativeBackend, spec: OptionChoice): LoadOptions {
  const { cpuMoe, overrideTensors = [] } = spec.settings;
  const room = usesDevices(backend, spec.settings) ? { needBytes: null, usableBytes: 0 } : null;
  const experts = layersOnCpu(cpuMoe, spec.experts, room);
  const tensorBuffers = [...overrideTensors, ...expertBuffers(experts)];
  const options: LoadOptions = {
    ...toLoadOptions(spec.settings),
    tensorBuffers,
    adapterPaths: (spec.adapters ?? []).map(({ path }) => path),
    draftPath: spec.draft?.path ?? null,
  };
  const [refused] = backend.refusedOptions(options);
  if (refused === undefined) return options;
  const set: ModelSettings = spec.settings;
  const names = SETTINGS_OF[refused];
  const name = names.find((each) => set[each] !== undefined) ?? names[0];
  throw fail('load_setting_unusable', {
    model: spec.modelId,
    setting: name === undefined ? refused : LOAD_SETTINGS[name].wire,
    reason: whyRefused(backend, refused),
  });
}

function whyRefused({ facts: { devices = [] } }: NativeBackend, refused: OptionName): string {
  const names = devices.map(({ name }) => name).join(', ');
  if (refused === 'devices') return `this machine has the devices ${names}`;
  if (refused === 'tensorBuffers') return `this machine has the buffers ${names}`;
  return 'this version cannot apply it';
}

export function usesDevices({ facts }: NativeBackend, { gpu, gpuLayers }: LoadSettings): boolean {
  return facts.gpu !== 'none' && gpu !== 'off' && gpuLayers !== 0;
}

export function toLoadOptions(
  settings: LoadSettings,
): Omit<LoadOptions, 'tensorBuffers' | 'adapterPaths' | 'draftPath'> {
  const { gpu = 'auto', gpuLayers = 'auto', flashAttention = 'auto' } = settings;
  const isTyped = settings.kvType ?? settings.kvTypeK ?? settings.kvTypeV;
  const { k, v } = kvTypes(settings);
  const exact = isExact(settings) ? EXACT_LOAD : null;
  return {
    devices: gpu === 'auto' ? null : gpu === 'off' ? [] : gpu,
    gpuLayers: gpuLayers === 'auto' ? null : gpuLayers,
    splitMode: settings.splitMode ?? null,
    tensorSplit: settings.tensorSplit ?? null,
    mainGpu: settings.mainGpu ?? null,
    loadMode: settings.loadMode ?? null,
    flashAttention: exact?.flashAttention ?? (flashAttention === 'auto' ? null : flashAttention === 'on'),
    ...(exact !== null && { repacks: exact.repacks, wholeWindows: exact.wholeWindows }),
    keyType: isTyped === undefined ? null : k,
    valueType: isTyped === undefined ? null : v,
    rope: ropeOptions(settings),
  };
}

function ropeOptions({
  ropeScaling,
  ropeFreqBase,
  ropeFreqScale,
  yarnOrigCtx,
}: LoadSettings): RopeOptions | null {
  if ([ropeScaling, ropeFreqBase, ropeFreqScale, yarnOrigCtx].every((value) => value === undefined))
    return null;
  return {
    scaling: ropeScaling ?? null,
    freqBase: ropeFreqBase ?? null,
    freqScale: ropeFreqScale ?? null,
    yarnOrigCtx: yarnOrigCtx ?? null,
  };
}

const SETTINGS_OF: Readonly<Record<OptionName, readonly LoadSettingName[]>> = {
  devices: ['gpu'],
  gpuLayers: ['gpuLayers'],
  splitMode: ['splitMode'],
  tensorSplit: ['tensorSplit'],
  mainGpu: ['mainGpu'],
  tensorBuffers: ['overrideTensors', 'cpuMoe'],
  loadMode: ['loadMode'],
  repacks: ['exact'],
  wholeWindows: ['exact'],
  flashAttention: ['flashAttention'],
  keyType: ['kvTypeK', 'kvType'],
  valueType: ['kvTypeV', 'kvType'],
  adapterPaths: ['lora'],
  draftPath: ['draftModel'],
  rope: ['ropeScaling', 'ropeFreqBase', 'ropeFreqScale', 'yarnOrigCtx'],
};
