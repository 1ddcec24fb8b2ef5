import { describe, expect, it } from 'vitest';
import { LOAD_SETTING_ROWS } from '../../contract/settings/shapes.ts';
import { loadSpec } from '../../../test/support/engine/jobs.ts';
import { answering, scriptedBackend } from '../../../test/support/engine/scripted-backend.ts';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { loadOptions, toLoadOptions } from './load-options.ts';

const { backend } = scriptedBackend(answering(() => ''));

describe('the options of a load', () => {
  it('leave everything to the library where nothing is set', () => {
    expect(toLoadOptions({})).toEqual({
      devices: null,
      gpuLayers: null,
      splitMode: null,
      tensorSplit: null,
      mainGpu: null,
      loadMode: null,
      flashAttention: null,
      keyType: null,
      valueType: null,
      rope: null,
    });
  });

  it('say what is set', () => {
    const settings = {
      gpu: ['Vulkan1'],
      gpuLayers: 'all',
      splitMode: 'none',
      tensorSplit: [1],
      mainGpu: 0,
      loadMode: 'mlock',
      flashAttention: 'on',
      kvType: 'q8_0',
      kvTypeK: 'bf16',
      ropeScaling: 'yarn',
      ropeFreqScale: 0.5,
    } as const;
    expect(toLoadOptions({ ...settings, gpu: [...settings.gpu] } as never)).toEqual({
      devices: ['Vulkan1'],
      gpuLayers: 'all',
      splitMode: 'none',
      tensorSplit: [1],
      mainGpu: 0,
      loadMode: 'mlock',
      flashAttention: true,
      keyType: 'bf16',
      valueType: 'q8_0',
      rope: { scaling: 'yarn', freqBase: null, freqScale: 0.5, yarnOrigCtx: null },
    });
  });

  it('name no device where the GPU is off, and all where it is auto', () => {
    expect([
      toLoadOptions({ gpu: 'off' }).devices,
      toLoadOptions({ gpu: 'auto', gpuLayers: 'auto' }),
    ]).toMatchObject([[], { devices: null, gpuLayers: null }]);
  });

  it('turn each setting that a worker gets into something', () => {
    const values: Readonly<Record<string, unknown>> = {
      tensorSplit: [1],
      gpu: 'off',
      exact: 'on',
    };
    const worker = LOAD_SETTING_ROWS.filter(([, { by }]) => by === 'worker');
    const idle = worker.filter(([name, row]) => {
      const value = values[name] ?? row.read('off') ?? row.read('none') ?? row.read('q8_0') ?? row.read('1');
      return JSON.stringify(toLoadOptions({ [name]: value })) === JSON.stringify(toLoadOptions({}));
    });
    // The first two name the tensors that lie elsewhere; the others are no business of the library.
    expect(idle.map(([name]) => name)).toEqual([
      'cpuMoe',
      'overrideTensors',
      'exactVectors',
      'template',
      'toolFormat',
    ]);
  });

  it('place tensors as the user says before experts as planned, and these only where there is a device', () => {
    const overrideTensors = [{ pattern: 'x', buffer: 'CPU' }];
    const spec = loadSpec({ settings: { overrideTensors, cpuMoe: 1 } });
    const onGpu = { ...backend, facts: { ...backend.facts, gpu: 'vulkan' } };
    const patterns = (of: typeof backend, settings = spec.settings) =>
      loadOptions(of, { ...spec, settings }).tensorBuffers.map(({ pattern }) => pattern);
    expect(patterns(backend)).toEqual(['x']);
    expect(patterns(onGpu)).toEqual(['x', expect.stringMatching(/^\^blk\\.0\\.ffn_/)]);
    expect(patterns(onGpu, { ...spec.settings, gpu: 'off' })).toEqual(['x']);
    expect(patterns(onGpu, { ...spec.settings, gpuLayers: 0 })).toEqual(['x']);
  });

  it('that the library cannot apply fail the load, with the setting that was set', () => {
    const refusing = { ...backend, refusedOptions: () => ['rope', 'keyType'] as const };
    const spec = loadSpec({ settings: { ropeFreqBase: 1e6, kvType: 'q8_0' } });
    expect(() => loadOptions(refusing, spec)).toThrow(
      'Model "test" cannot be loaded with rope_freq_base as it is set (this version cannot apply it); change it with hearth set, or remove it (hearth set test rope_freq_base=).',
    );
    const options = loadOptions(backend, spec);
    expect([options.rope?.freqBase, options.keyType, options.valueType]).toEqual([1e6, 'q8_0', 'q8_0']);
  });

  it('that fail are no damage of the file', () => {
    const refusing = { ...backend, refusedOptions: () => ['rope'] as const };
    const spec = loadSpec({ settings: { yarnOrigCtx: 4096 } });
    try {
      loadOptions(refusing, spec);
    } catch (error) {
      expect(isFailure(error, 'load_setting_unusable') && error.detail.setting).toBe('yarn_orig_ctx');
    }
    expect.assertions(1);
  });
});
