/** What the settings of a model make of its load target and of its description. */
import { describe, expect, it } from 'vitest';
import type { ModelParams } from '../files/manifest.ts';
import { setParams } from '../install/changes.ts';
import { importFile } from '../install/import.ts';
import {
  temporaryFolder,
  temporaryRegistry,
  writeChat,
  writeEmbed,
} from '../../../test/support/temp-home.ts';
import { describeModel } from './describe.ts';
import type { Registry } from './registry.ts';

async function withChat(): Promise<Registry> {
  const registry = await temporaryRegistry();
  await importFile(registry, await writeChat(await temporaryFolder()), { id: 'm' });
  return registry;
}

const targetWith = async (registry: Registry, params: { [K in keyof ModelParams]?: ModelParams[K] | null }) =>
  registry.toTarget(await setParams(registry, 'm', params));

describe('the target of a model with settings', () => {
  it('plans the KV cache in its types', async () => {
    const registry = await withChat();
    const bytesWith = async (params: Parameters<typeof targetWith>[1]) =>
      (await targetWith(registry, params)).source.kvBytesPerToken;
    expect(await bytesWith({})).toBe(256);
    expect(await bytesWith({ kvType: 'q8_0' })).toBe(136);
    expect(await bytesWith({ kvType: null, kvTypeV: 'f32' })).toBe(384);
  });

  it('is another one to the scheduler for each setting that a load takes, so that the next request loads anew', async () => {
    const registry = await withChat();
    const plain = await targetWith(registry, {});
    const quantised = await targetWith(registry, { kvType: 'q8_0' });
    const pinned = await targetWith(registry, { kvType: 'q8_0', threads: 2 });
    const again = await targetWith(registry, { kvType: null, threads: 2 });
    expect(quantised.revision).not.toBe(plain.revision);
    expect([pinned.revision, again.revision]).toEqual([quantised.revision, plain.revision]);
    expect([pinned.source.threads, pinned.source.settings]).toEqual([2, { kvType: 'q8_0', threads: 2 }]);
  });

  it('has a window as long as its positions are stretched', async () => {
    const registry = await withChat();
    const windowWith = async (params: ModelParams) => (await targetWith(registry, params)).trainedCtx;
    expect(await windowWith({})).toBe(2048);
    expect(await windowWith({ ropeScaling: 'yarn', ropeFreqScale: 0.25 })).toBe(8192);
    expect(await windowWith({ yarnOrigCtx: 1024 })).toBe(4096);
    const stretched = await targetWith(registry, { ropeFreqBase: 1e6, numCtx: 16_384 });
    expect([stretched.trainedCtx, stretched.defaultCtx]).toEqual([16_384, 16_384]);
  });
});

describe('setting', () => {
  const refusal = async (registry: Registry, params: object, id = 'm') =>
    setParams(registry, id, params).catch((error: unknown) => (error as Error).message);

  it('refuses what contradicts what is set already, and changes nothing', async () => {
    const registry = await withChat();
    await setParams(registry, 'm', { flashAttention: 'off' });
    expect(await refusal(registry, { kvType: 'q4_0' })).toBe(
      'kv_type is q4_0, which needs flash attention; set flash_attention=auto, or kv_type_v=f16.',
    );
    expect((await registry.find('m')).params).toEqual({ flashAttention: 'off' });
    expect(await refusal(registry, { kvType: 'q4_0', flashAttention: null })).toMatchObject({ id: 'm' });
  });

  it('of chats is refused for an embedding model', async () => {
    const registry = await withChat();
    await importFile(registry, await writeEmbed(await temporaryFolder()), { id: 'e' });
    expect(await refusal(registry, { ropeFreqBase: 1e6 }, 'e')).toBe(
      'rope_freq_base is for chat models, and this is an embedding model.',
    );
    expect(await refusal(registry, { temperature: 1 }, 'e')).toBe(
      'temperature is for chat models, and this is an embedding model.',
    );
    expect(await refusal(registry, { numCtx: 64, temperature: null }, 'e')).toMatchObject({ id: 'e' });
  });

  it('is described by the names and in the form of hearth set', async () => {
    const registry = await withChat();
    const model = await setParams(registry, 'm', { tensorSplit: [3, 1], kvTypeK: 'q8_0', topK: 5 });
    expect((await describeModel(registry, model)).settings).toEqual({
      kv_type_k: 'q8_0',
      tensor_split: '3,1',
    });
  });
});
