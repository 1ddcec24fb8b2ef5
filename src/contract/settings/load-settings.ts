/**
 * contract/settings owns every load setting once. `hearth set` and `hearth show`, manifests, GET /v1/models and loads
 * derive from this table, and a test compares docs/model-settings.md with it. It does not know how the library
 * receives them (worker/load/load-options.ts).
 */
import type { TSchema } from 'typebox';
import {
  isTemplateText,
  KNOWN_TEMPLATE_NAMES,
} from '../../../packages/chat-templates/src/form/known-templates.ts';
import { TEMPLATE_LIMITS } from '../../../packages/chat-templates/src/form/limits.ts';
import { MOST_DRAFT_TOKENS, MOST_THREADS } from '../limits.ts';
import {
  FORMAT_CHOICES,
  FORMAT_TEXT_BYTES,
  isFormatText,
} from '../../../packages/chat-templates/src/tool-format/format-names.ts';
import { KV_TYPE_BITS, type KvType } from './kv-types.ts';
import {
  adapters,
  choice,
  count,
  countOr,
  devices,
  modelName,
  nameOrText,
  overrides,
  positive,
  proportions,
  type SettingValue,
} from './values.ts';

/**
 * Effect of a setting in mode frozen-v1.
 * - `none`: changes no bit, or another check refuses the run (layers on a GPU).
 * - `own`: the frozen context has its own value.
 * - `refused`: the setting refuses the mode.
 * - `used`: a job that uses it is refused.
 */
type Frozen = 'none' | 'own' | 'refused' | 'used';

export const SETTING_GROUPS = {
  answers: 'Window and answers',
  sampling: 'Sampling',
  memory: 'Memory and processor',
  devices: 'GPUs',
  positions: 'Longer windows',
  format: 'Prompt format',
  companions: 'Adapters and drafts',
} as const;
export type SettingGroup = keyof typeof SETTING_GROUPS;

export type SettableModels = 'chat' | 'embedding' | 'all';

export interface LoadSettingRow extends SettingValue<TSchema> {
  /** Name in `hearth set`, `hearth show` and GET /v1/models; llama.cpp's word if it has one. */
  readonly wire: string;
  readonly description: string;
  readonly group: SettingGroup;
  readonly unset: string;
  readonly models: SettableModels;
  /** `worker`: passed on unchanged. `server`: the server derives a member of the load from it. */
  readonly by: 'worker' | 'server';
  readonly frozen: Frozen;
}

const kvTypeValue = choice(...(Object.keys(KV_TYPE_BITS) as KvType[]));
const MOST_LAYERS = 512;
const MOST_WINDOW = 2 ** 31 - 1;

const ON_GPU = { group: 'devices', models: 'all', by: 'worker', frozen: 'none' } as const;
const OF_CONTEXT = { group: 'memory', models: 'chat', by: 'worker', frozen: 'own' } as const;
const OF_ROPE = { group: 'positions', models: 'chat', by: 'worker', frozen: 'refused' } as const;

export const LOAD_SETTINGS = {
  kvType: {
    wire: 'kv_type',
    ...kvTypeValue,
    ...OF_CONTEXT,
    description: 'Type of keys and values in the KV cache.',
    unset: 'f16',
  },
  kvTypeK: {
    wire: 'kv_type_k',
    ...kvTypeValue,
    ...OF_CONTEXT,
    description: 'Type of the keys alone.',
    unset: 'kv_type',
  },
  kvTypeV: {
    wire: 'kv_type_v',
    ...kvTypeValue,
    ...OF_CONTEXT,
    description: 'Type of the values alone. A quantised one needs flash attention.',
    unset: 'kv_type',
  },
  flashAttention: {
    wire: 'flash_attention',
    ...choice('auto', 'on', 'off'),
    ...OF_CONTEXT,
    description: 'Whether attention is computed without storing its whole matrix.',
    unset: 'auto: where the devices can; on a CPU, switched as needed',
  },
  gpu: {
    wire: 'gpu',
    ...devices,
    ...ON_GPU,
    description:
      'The devices that the model may use in addition to the CPU, among those that `SVC_GPU` allows.',
    unset: 'auto: all of them',
  },
  gpuLayers: {
    wire: 'gpu_layers',
    ...countOr(MOST_LAYERS, 'auto', 'all'),
    ...ON_GPU,
    description: 'Layers on those devices, the last ones of the model first.',
    unset: 'auto: as many as fit',
  },
  splitMode: {
    wire: 'split_mode',
    ...choice('none', 'layer', 'row'),
    ...ON_GPU,
    description: 'How several devices share the model: one takes all, by layers, or by rows of each matrix.',
    unset: 'layer',
  },
  tensorSplit: {
    wire: 'tensor_split',
    ...proportions,
    ...ON_GPU,
    description: 'The share of each device, in their order.',
    unset: 'by free memory',
  },
  mainGpu: {
    wire: 'main_gpu',
    ...count(0, 15),
    ...ON_GPU,
    description: 'The device that takes all with `split_mode=none`, counted from 0.',
    unset: '0',
  },
  cpuMoe: {
    wire: 'cpu_moe',
    ...countOr(MOST_LAYERS, 'auto', 'off', 'all'),
    ...ON_GPU,
    description: 'Layers whose experts stay in the memory of the CPU, the first ones of the model first.',
    unset: 'auto: as few as make the rest fit',
  },
  overrideTensors: {
    wire: 'override_tensors',
    ...overrides,
    group: 'devices',
    models: 'all',
    by: 'worker',
    frozen: 'refused',
    description: 'Tensors whose name matches the regular expression lie in a buffer of that type.',
    unset: 'none',
  },
  loadMode: {
    wire: 'load_mode',
    ...choice('auto', 'none', 'mmap', 'mlock', 'mmap+mlock'),
    group: 'memory',
    models: 'all',
    by: 'worker',
    frozen: 'none',
    description: 'How weights get into memory: mapped from the file, read, locked against swapping.',
    unset: 'mmap',
  },
  threads: {
    wire: 'threads',
    ...count(1, MOST_THREADS),
    group: 'memory',
    models: 'all',
    by: 'server',
    frozen: 'none',
    description: 'Threads of the CPU.',
    unset: '`SVC_NUM_THREADS`, else measured',
  },
  exactVectors: {
    wire: 'exact_vectors',
    ...choice('auto', 'on', 'off'),
    group: 'answers',
    models: 'embedding',
    by: 'worker',
    frozen: 'none',
    description:
      'Whether each text is computed separately, so that its vector or score is the same alone and in any request.',
    unset: 'auto: on unless the model may use a GPU',
  },
  exact: {
    wire: 'exact',
    ...choice('on', 'off'),
    group: 'answers',
    models: 'chat',
    by: 'worker',
    frozen: 'none',
    description:
      'Whether the same request always gets the same answer: alone, with others, cold or from the cache, after a restart.',
    unset: 'off',
  },
  ropeScaling: {
    wire: 'rope_scaling',
    ...choice('none', 'linear', 'yarn'),
    ...OF_ROPE,
    description: 'How positions beyond the trained window are scaled.',
    unset: 'as the file says',
  },
  ropeFreqBase: {
    wire: 'rope_freq_base',
    ...positive(1e12),
    ...OF_ROPE,
    description: 'Base frequency of the rotary positions.',
    unset: 'as the file says',
  },
  ropeFreqScale: {
    wire: 'rope_freq_scale',
    ...positive(1000),
    ...OF_ROPE,
    description: 'Factor of their frequency; 0.25 stretches the window to four times the trained one.',
    unset: 'as the file says',
  },
  yarnOrigCtx: {
    wire: 'yarn_orig_ctx',
    ...count(1, MOST_WINDOW),
    ...OF_ROPE,
    description: 'The window before YaRN scaling, tokens.',
    unset: 'as the file says',
  },
  template: {
    wire: 'template',
    ...nameOrText(KNOWN_TEMPLATE_NAMES, { isText: isTemplateText, mostChars: TEMPLATE_LIMITS.sourceBytes }),
    group: 'format',
    models: 'chat',
    by: 'worker',
    frozen: 'none',
    description: 'The chat template, in place of the one in the file.',
    unset: 'as the file says; chatml where it has none',
  },
  lora: {
    wire: 'lora',
    ...adapters,
    group: 'companions',
    models: 'chat',
    by: 'server',
    frozen: 'used',
    description: 'LoRA adapters that requests may name; with a scale, applied also where they name none.',
    unset: 'none',
  },
  draftModel: {
    wire: 'draft_model',
    ...modelName,
    group: 'companions',
    models: 'chat',
    by: 'server',
    frozen: 'none',
    description: 'A smaller model with the same vocabulary that drafts tokens.',
    unset: 'none',
  },
  draftTokens: {
    wire: 'draft_tokens',
    ...count(0, MOST_DRAFT_TOKENS),
    group: 'companions',
    models: 'chat',
    by: 'server',
    frozen: 'none',
    description: 'Most tokens that a stream drafts per step, from either source; 0 disables drafting.',
    unset: '`SVC_DRAFT_TOKENS`',
  },
  toolFormat: {
    wire: 'tool_format',
    ...nameOrText(FORMAT_CHOICES, { isText: isFormatText, mostChars: FORMAT_TEXT_BYTES }),
    group: 'format',
    models: 'chat',
    by: 'worker',
    frozen: 'refused',
    description: 'How the model writes calls of tools.',
    unset: 'auto, as its template shows',
  },
} as const satisfies Readonly<Record<string, LoadSettingRow>>;
