/** What reaches llama.cpp of where a model may lie, over a library that opens nothing. */
import koffi from 'koffi';
import { expect, it } from 'vitest';
import { loadSpec } from '../../../test/support/engine/jobs.ts';
import type { LoadSettings } from '../../contract/settings/shapes.ts';
import { optionsOf } from '../load/load-options.ts';
import { modelParams, type Native } from './params.ts';

const defaults = { split_mode: 1, main_gpu: 0 };
const native = { hasGpu: true, library: { llama_model_default_params: () => defaults } } as unknown as Native;

function paramsOf(settings: LoadSettings) {
  const options = { ...optionsOf({ ...loadSpec().settings, ...settings }), tensorBuffers: [] };
  const { params, held } = modelParams(native, options);
  const list = held.find((memory) => memory instanceof BigUint64Array);
  return { layers: params.n_gpu_layers, devices: params.devices, list };
}

it('a model without layers on a device has none, so that llama.cpp lends it none for large products', () => {
  for (const settings of [{ gpuLayers: 0 }, { gpu: 'off' }] as const) {
    const { layers, devices, list } = paramsOf(settings);
    expect(layers).toBe(0);
    expect(list).toEqual(BigUint64Array.of(0n));
    expect(devices).toBe(list && koffi.address(list));
  }
});

it("every device and all layers are the library's choice otherwise", () => {
  expect(paramsOf({})).toEqual({ layers: -1, devices: null, list: undefined });
});
