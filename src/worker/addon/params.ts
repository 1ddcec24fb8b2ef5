import koffi from 'koffi';
import {
  FLASH_ATTENTION,
  KV_TYPES,
  LOAD_MODES,
  ROPE_SCALINGS,
  SPLIT_MODES,
} from '../../../packages/llama-api/src/enums.ts';
import { devicePointers } from './library/devices.ts';
import type { ContextParams, ModelParams, Pointer } from './library/layouts.ts';
import type { Library } from './library/open.ts';
import type { NativeLog } from './library/log.ts';
import type { MediaLibrary } from './media-library.ts';
import type { MemoryReader } from './memory.ts';
import type { ContextOptions, LoadOptions, ModelOptions, TensorBuffer } from '../native.ts';

export interface Native {
  readonly library: Library;
  readonly log: NativeLog;
  readonly threadpool: Pointer | null;
  readonly readMemory: MemoryReader;
  readonly hasGpu: boolean;
  readonly media: MediaLibrary | null;
}

/** `held` is memory that the parameters point to: it must live as long as what is opened with them. */
export interface HeldParams {
  readonly params: ModelParams;
  readonly held: readonly object[];
}

const ALL_LAYERS = -1;

export function isMapping(loadMode: number): boolean {
  return loadMode !== LOAD_MODES.none;
}

export function modelParams({ library, hasGpu }: Native, options: ModelOptions): HeldParams {
  const { devices, gpuLayers, splitMode, mainGpu, loadMode, tensorSplit, tensorBuffers } = options;
  const defaults = library.llama_model_default_params();
  // Without layers on a device no device is passed: llama.cpp would still use one for large products.
  const names = gpuLayers === 0 || !hasGpu ? [] : devices;
  const onGpu = hasGpu && names?.length !== 0;
  const chosen =
    names === null ? null : pointerList(names.flatMap((name) => findDevice(library, name) ?? []));
  const shares = tensorSplit === null ? null : splitList(library, tensorSplit);
  const overrides = overrideList(library, tensorBuffers);
  return {
    params: {
      ...defaults,
      n_gpu_layers: onGpu ? layerCount(gpuLayers) : 0,
      split_mode: splitMode === null ? defaults.split_mode : SPLIT_MODES[splitMode],
      main_gpu: mainGpu ?? defaults.main_gpu,
      use_extra_bufts: options.repacks ?? defaults.use_extra_bufts,
      load_mode: LOAD_MODES[loadMode ?? 'mmap'],
      devices: chosen === null ? null : koffi.address(chosen),
      tensor_split: shares === null ? null : koffi.address(shares),
      tensor_buft_overrides: overrides === null ? null : koffi.address(overrides.list),
    },
    held: [chosen, shares, overrides].filter((memory) => memory !== null),
  };
}

export function contextParams(library: Library, options: ContextOptions): ContextParams {
  const { sequences, numCtx, unified, batchTokens, threads, keyType, valueType, rope } = options;
  const defaults = library.llama_context_default_params();
  return {
    ...defaults,
    n_ctx: unified ? numCtx : numCtx * sequences,
    n_batch: batchTokens,
    n_ubatch: options.microBatchTokens ?? batchTokens,
    n_seq_max: sequences,
    // The library reserves a row for each sequence, and aborts without it.
    n_outputs_max: options.logitRows === null ? 0 : Math.max(options.logitRows, sequences),
    n_threads: threads,
    n_threads_batch: threads,
    rope_scaling_type: rope?.scaling ? ROPE_SCALINGS[rope.scaling] : ROPE_SCALINGS.unspecified,
    rope_freq_base: rope?.freqBase ?? defaults.rope_freq_base,
    rope_freq_scale: rope?.freqScale ?? defaults.rope_freq_scale,
    yarn_orig_ctx: rope?.yarnOrigCtx ?? defaults.yarn_orig_ctx,
    flash_attn_type: flashAttention(options.flashAttention),
    type_k: KV_TYPES[keyType ?? 'f16'],
    type_v: KV_TYPES[valueType ?? 'f16'],
    embeddings: options.embeddings,
    swa_full: options.wholeWindows ?? false,
    kv_unified: unified,
  };
}

export function refusedOptions({ library }: Native, options: LoadOptions): (keyof LoadOptions)[] {
  const refused: (keyof LoadOptions)[] = [];
  if (options.devices?.some((name) => findDevice(library, name) === undefined)) refused.push('devices');
  if (options.tensorBuffers.some(({ buffer }) => findBufferType(library, buffer) === undefined))
    refused.push('tensorBuffers');
  return refused;
}

function layerCount(layers: ModelOptions['gpuLayers']): number {
  return layers === null || layers === 'all' ? ALL_LAYERS : layers;
}

function flashAttention(setting: boolean | null): number {
  if (setting === null) return FLASH_ATTENTION.auto;
  return setting ? FLASH_ATTENTION.enabled : FLASH_ATTENTION.disabled;
}

function findDevice(library: Library, name: string): Pointer | undefined {
  return devicePointers(library).find((device) => library.ggml_backend_dev_name(device) === name);
}

function findBufferType(library: Library, name: string): Pointer | undefined {
  const types = devicePointers(library).map((device) => library.ggml_backend_dev_buffer_type(device));
  return types.find((type) => library.ggml_backend_buft_name(type) === name);
}

function pointerList(pointers: readonly Pointer[]): BigUint64Array {
  return BigUint64Array.from([...pointers, 0n]);
}

/** llama.cpp reads one share for each device that it supports. */
function splitList(library: Library, shares: readonly number[]): Float32Array {
  const list = new Float32Array(library.llama_max_devices());
  list.set(shares.slice(0, list.length));
  return list;
}

function overrideList(
  library: Library,
  overrides: readonly TensorBuffer[],
): { list: BigUint64Array; patterns: readonly Uint8Array[] } | null {
  if (overrides.length === 0) return null;
  const patterns = overrides.map(({ pattern }) => new Uint8Array(Buffer.from(`${pattern}\0`, 'utf8')));
  const pairs = overrides.flatMap(({ buffer }, at) => {
    const pattern = patterns[at];
    const type = findBufferType(library, buffer);
    return pattern === undefined || type === undefined ? [] : [koffi.address(pattern), type];
  });
  return { list: BigUint64Array.from([...pairs, 0n, 0n]), patterns };
}
