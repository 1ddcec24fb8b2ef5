/** What reaches llama.cpp of how a model is loaded, over a library that opens nothing. */
import koffi from 'koffi';
import { describe, expect, it } from 'vitest';
import { loadSpec } from '../../../test/support/engine/jobs.ts';
import type { LoadSettings } from '../../contract/settings/shapes.ts';
import { toLoadOptions } from '../load/load-options.ts';
import type { ContextOptions, LoadOptions, TensorBuffer } from '../native.ts';
import { contextParams, modelParams, type Native, refusedOptions } from './params.ts';

/** The place of a device is its index and one, that of its buffer type 100 more. */
const devices = ['CPU', 'GPU0', 'GPU1'];
const placeOf = (name: string): bigint => BigInt(devices.indexOf(name) + 1);
const bufferOf = (name: string): bigint => placeOf(name) + 100n;

const native = {
  hasGpu: true,
  library: {
    llama_model_default_params: () => ({ split_mode: 1, main_gpu: 0 }),
    llama_context_default_params: () => ({ rope_freq_base: 0, rope_freq_scale: 0, yarn_orig_ctx: 0 }),
    llama_max_devices: () => 16,
    ggml_backend_dev_count: () => devices.length,
    ggml_backend_dev_get: (at: number) => BigInt(at + 1),
    ggml_backend_dev_name: (device: bigint) => devices[Number(device) - 1],
    ggml_backend_dev_buffer_type: (device: bigint) => device + 100n,
    ggml_backend_buft_name: (type: bigint) => devices[Number(type) - 101],
  },
} as unknown as Native;

function paramsOf(settings: LoadSettings, hasGpu = true) {
  const options = { ...toLoadOptions({ ...loadSpec().settings, ...settings }), tensorBuffers: [] };
  const { params, held } = modelParams({ ...native, hasGpu }, options);
  const list = held.find((memory) => memory instanceof BigUint64Array);
  return { layers: params.n_gpu_layers, devices: params.devices, list };
}

it('a model without layers on a device has none, so that llama.cpp lends it none for large products', () => {
  const cases = [
    paramsOf({ gpuLayers: 0 }),
    paramsOf({ gpu: 'off' }),
    // A build of the user's has GPUs that SVC_GPU=off forbids.
    paramsOf({}, false),
  ];
  for (const { layers, devices, list } of cases) {
    expect(layers).toBe(0);
    expect(list).toEqual(BigUint64Array.of(0n));
    expect(devices).toBe(list && koffi.address(list));
  }
});

it("every device and all layers are the library's choice otherwise", () => {
  expect(paramsOf({})).toEqual({ layers: -1, devices: null, list: undefined });
});

const optionsFor = (settings: LoadSettings, tensorBuffers: readonly TensorBuffer[] = []): LoadOptions => ({
  ...toLoadOptions({ ...loadSpec().settings, ...settings }),
  tensorBuffers,
  adapterPaths: [],
  draftPath: null,
});

describe('several devices', () => {
  const gpu = ['GPU1', 'GPU0'];
  const { params, held } = modelParams(
    native,
    optionsFor({ gpu, gpuLayers: 7, splitMode: 'row', mainGpu: 1, tensorSplit: [3, 1], loadMode: 'mlock' }),
  );
  const heldAt = (address: unknown): object | undefined =>
    held.find((memory) => !Array.isArray(memory) && koffi.address(memory) === address);

  it('are those that the setting names, in its order, and a null ends them', () => {
    expect(heldAt(params.devices)).toEqual(BigUint64Array.of(placeOf('GPU1'), placeOf('GPU0'), 0n));
  });

  it('share the model as the settings say', () => {
    expect(params).toMatchObject({ n_gpu_layers: 7, split_mode: 2, main_gpu: 1, load_mode: 2 });
    const shares = heldAt(params.tensor_split);
    expect(shares).toHaveLength(16);
    expect(Array.from(shares as Float32Array).slice(0, 3)).toEqual([3, 1, 0]);
  });

  it('are refused by the name of the setting where the machine has no such device or buffer', () => {
    const buffer = (name: string): TensorBuffer[] => [{ pattern: 'ffn', buffer: name }];
    expect(refusedOptions(native, optionsFor({ gpu }, buffer('GPU0')))).toEqual([]);
    expect(refusedOptions(native, optionsFor({ gpu: ['GPU9'] }))).toEqual(['devices']);
    expect(refusedOptions(native, optionsFor({}, buffer('GPU9')))).toEqual(['tensorBuffers']);
  });
});

it('tensors lie in the buffer of the first pattern, and a pair of nulls ends the list', () => {
  const { params, held } = modelParams(
    native,
    optionsFor({}, [
      { pattern: 'ffn_up', buffer: 'CPU' },
      { pattern: 'ffn', buffer: 'GPU1' },
    ]),
  );
  const overrides = held.find((memory): memory is { list: BigUint64Array; patterns: Uint8Array[] } =>
    Object.hasOwn(memory, 'list'),
  );
  const { list, patterns } = overrides ?? expect.fail('nothing keeps the patterns in memory');
  expect(params.tensor_buft_overrides).toBe(koffi.address(list));
  expect(patterns.map((pattern) => Buffer.from(pattern).toString())).toEqual(['ffn_up\0', 'ffn\0']);
  const [first, second] = patterns.map((pattern) => koffi.address(pattern));
  expect([...list]).toEqual([first, bufferOf('CPU'), second, bufferOf('GPU1'), 0n, 0n]);
});

describe('a context', () => {
  const options: ContextOptions = {
    sequences: 4,
    numCtx: 1_000,
    unified: true,
    batchTokens: 64,
    microBatchTokens: null,
    logitRows: 2,
    threads: 3,
    flashAttention: null,
    keyType: 'q8_0',
    valueType: 'q4_0',
    rope: { scaling: 'yarn', freqBase: 500, freqScale: 0.25, yarnOrigCtx: 2_048 },
    embeddings: false,
  };
  const paramsWith = (changes: Partial<ContextOptions> = {}) =>
    contextParams(native.library, { ...options, ...changes });

  it('has the types of its keys and of its values', () => {
    expect(paramsWith()).toMatchObject({ type_k: 8, type_v: 2 });
    expect(paramsWith({ keyType: null, valueType: null })).toMatchObject({ type_k: 1, type_v: 1 });
  });

  it('has a window for all its sequences, or one for each', () => {
    expect(paramsWith()).toMatchObject({ n_ctx: 1_000, n_seq_max: 4, kv_unified: true });
    expect(paramsWith({ unified: false })).toMatchObject({ n_ctx: 4_000, kv_unified: false });
  });

  it('has room for the logits of a row of each sequence at least', () => {
    expect(paramsWith().n_outputs_max).toBe(4);
    expect(paramsWith({ logitRows: 9 }).n_outputs_max).toBe(9);
    expect(paramsWith({ logitRows: null }).n_outputs_max).toBe(0);
  });

  it('evaluates as many rows and threads in a call as asked', () => {
    expect(paramsWith()).toMatchObject({ n_batch: 64, n_ubatch: 64, n_threads: 3, n_threads_batch: 3 });
  });

  it('has the positions that are set, and else those of the file', () => {
    const set = { rope_scaling_type: 2, rope_freq_base: 500, rope_freq_scale: 0.25, yarn_orig_ctx: 2_048 };
    expect(paramsWith()).toMatchObject(set);
    const file = { rope_scaling_type: -1, rope_freq_base: 0, rope_freq_scale: 0, yarn_orig_ctx: 0 };
    expect(paramsWith({ rope: null })).toMatchObject(file);
  });

  it.each([
    [null, -1],
    [false, 0],
    [true, 1],
  ])('with flash attention %s asks for %d', (flashAttention, type) => {
    expect(paramsWith({ flashAttention }).flash_attn_type).toBe(type);
  });
});
