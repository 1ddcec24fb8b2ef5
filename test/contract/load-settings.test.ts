/** Load settings over HTTP: shown with their model, and part of what the engine is asked to load. */
import { afterEach, describe, expect, it } from 'vitest';
import type { LocalTarget } from '../../src/server/engine/local/model-source.ts';
import { setParams } from '../../src/store/install/changes.ts';
import { installed, scriptedService } from '../support/http/scripted-service.ts';

const service = scriptedService();
const model = installed.slashed;

const SETTINGS = { kvType: 'q8_0', gpu: ['Vulkan0'], gpuLayers: 4, tensorSplit: [1] } as const;
const REMOVED = { kvType: null, gpu: null, gpuLayers: null, tensorSplit: null } as const;
const set = () =>
  setParams(service.registry, model, {
    ...SETTINGS,
    gpu: [...SETTINGS.gpu],
    tensorSplit: [...SETTINGS.tensorSplit],
  });

afterEach(async () => {
  await setParams(service.registry, model, REMOVED);
});

describe('GET /v1/models/{id}', () => {
  it('shows what is set, by its public names, and nothing where nothing is', async () => {
    expect((await service.client.get(`/v1/models/${model}`)).body.settings).toBeUndefined();
    await set();
    expect((await service.client.get(`/v1/models/${model}`)).body.settings).toEqual({
      kv_type: 'q8_0',
      gpu: ['Vulkan0'],
      gpu_layers: 4,
      tensor_split: [1],
    });
  });
});

describe('a request', () => {
  it('is for the model as it is set at that moment', async () => {
    const targetNow = async (): Promise<LocalTarget> => {
      expect((await service.client.chat({ model })).status).toBe(200);
      return service.engine.lastJob.submission.target as LocalTarget;
    };
    const before = await targetNow();
    await set();
    const after = await targetNow();
    expect([before.source.settings, after.source.settings]).toEqual([{}, SETTINGS]);
    expect(after.revision).not.toBe(before.revision);
  });
});
