import type { ModelKind } from '../load.ts';
import type { SettableModels } from './load-settings.ts';
import { isExact, whyNotExact } from './exact-rules.ts';
import { isQuantised, kvTypes } from './kv-types.ts';
import { LOAD_SETTING_ROWS, type ModelSettings, type SettingFault } from './shapes.ts';

export function findFault(settings: ModelSettings, kind: ModelKind): SettingFault | null {
  return (
    wrongKind(settings, kind) ?? contradiction(settings) ?? (isExact(settings) ? whyNotExact(settings) : null)
  );
}

const WITH_ARTICLE: Readonly<Record<ModelKind, string>> = { chat: 'a chat', embedding: 'an embedding' };

function wrongKind(settings: ModelSettings, kind: ModelKind): SettingFault | null {
  for (const [name, { wire, models }] of LOAD_SETTING_ROWS) {
    const reason = whyNotFor(models, kind);
    if (reason !== null && settings[name] !== undefined) return { wire, reason };
  }
  return null;
}

export function whyNotFor(models: SettableModels, kind: ModelKind): string | null {
  if (models === 'all' || models === kind) return null;
  return `is for ${models} models, and this is ${WITH_ARTICLE[kind]} model`;
}

function contradiction(settings: ModelSettings): SettingFault | null {
  const { kvTypeV, flashAttention, gpu, gpuLayers, tensorSplit, mainGpu } = settings;
  const typeV = kvTypes(settings).v;
  if (isQuantised(typeV) && flashAttention === 'off') {
    return {
      wire: kvTypeV === undefined ? 'kv_type' : 'kv_type_v',
      reason: `is ${typeV}, which needs flash attention; set flash_attention=auto, or kv_type_v=f16`,
    };
  }
  if (gpu === 'off' && gpuLayers !== undefined && gpuLayers !== 'auto' && gpuLayers !== 0)
    return { wire: 'gpu_layers', reason: `is ${gpuLayers}, but gpu is off; remove one of the two` };
  if (!Array.isArray(gpu)) return null;
  if (tensorSplit !== undefined && tensorSplit.length !== gpu.length) {
    return {
      wire: 'tensor_split',
      reason: `has the shares ${tensorSplit.join(',')} for ${gpu.join(',')}; give one for each device`,
    };
  }
  if (mainGpu !== undefined && mainGpu >= gpu.length) {
    return {
      wire: 'main_gpu',
      reason: `is ${mainGpu}, but gpu names only ${gpu.join(',')}, counted from 0`,
    };
  }
  return null;
}
