/** Adapters and drafting models: installed, attached to a model by name, and part of its loads. */
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeGguf } from '../../../tools/gguf/writer.ts';
import { u32 } from '../../../tools/gguf/metadata.ts';
import { tinyChatContent } from '../../../tools/models/tiny-chat.ts';
import { tinyLoraContent, writeTinyLora } from '../../../tools/models/tiny-lora.ts';
import { chatBytes, temporaryFolder, temporaryRegistry, writeChat } from '../../../test/support/temp-home.ts';
import { describeModel } from '../registry/describe.ts';
import { openRegistry, type Registry } from '../registry/registry.ts';
import { addAlias, removeModel, setParams } from './changes.ts';
import { importFile } from './import.ts';

interface Store {
  readonly registry: Registry;
  readonly folder: string;
}

async function store(): Promise<Store> {
  const registry = await temporaryRegistry();
  const folder = await temporaryFolder();
  await importFile(registry, await writeChat(folder), { id: 'm' });
  await writeTinyLora(join(folder, 'style.gguf'));
  await importFile(registry, join(folder, 'style.gguf'), { probe: refusingProbe });
  return { registry, folder };
}

/** An adapter cannot be loaded alone, so it is not tried. */
const refusingProbe = async (): Promise<void> => {
  throw new Error('it was tried');
};

const refusal = async (registry: Registry, params: object, id = 'm') =>
  setParams(registry, id, params).then(
    () => null,
    (error: unknown) => (error as Error).message,
  );

describe('an adapter', () => {
  it('is installed by import, described, and no model of any request', async () => {
    const { registry } = await store();
    const adapter = await registry.find('style');
    expect(adapter).toMatchObject({
      kind: 'adapter',
      facts: { architecture: 'llama', name: 'Tiny LoRA', adapter: { alpha: 4, targets: 2 } },
    });
    const shown = await describeModel(registry, adapter);
    expect(shown).toMatchObject({ isDefault: false, memory: { numCtx: null, kvBytesPerToken: 0 } });
    expect(shown.memory.weightsBytes).toBe(adapter.facts.sizeBytes);
    const notServed = 'Model "style" is an adapter model and cannot serve requests by itself';
    await expect(registry.resolve('style', 'chat')).rejects.toThrow(notServed);
    await expect(registry.setDefault('style')).rejects.toThrow(notServed);
    expect(() => registry.toTarget(adapter)).toThrow(notServed);
    expect(await refusal(registry, { numCtx: 64 }, 'style')).toContain(notServed);
    expect(await registry.defaultId('chat')).toBe('m');
  });

  it('is attached by id or alias, and opened with each load of the model', async () => {
    const { registry, folder } = await store();
    await addAlias(registry, 'style', 'nice');
    const model = await setParams(registry, 'm', { lora: [{ name: 'nice', scale: 0.5 }] });
    expect(model.params.lora).toEqual([{ name: 'style', scale: 0.5 }]);
    const target = registry.toTarget(model, { companions: await registry.companions(model) });
    expect(target.source.attached).toEqual({
      adapters: [{ name: 'style', path: join(folder, 'style.gguf') }],
      draft: null,
    });
    expect(target.source.weightsBytes).toBe(
      chatBytes().length + (await registry.find('style')).facts.sizeBytes,
    );
    await target.source.verify();
  });

  it('makes another load of the model, and another scale does not', async () => {
    const { registry } = await store();
    const revisionWith = async (lora: { name: string; scale: number }[] | null) => {
      const model = await setParams(registry, 'm', { lora });
      return registry.toTarget(model, { companions: await registry.companions(model) }).revision;
    };
    const [plain, half, off] = [
      await revisionWith(null),
      await revisionWith([{ name: 'style', scale: 0.5 }]),
      await revisionWith([{ name: 'style', scale: 0 }]),
    ];
    expect(half).not.toBe(plain);
    expect(off).toBe(half);
  });

  it('that is gone, or changed, fails the load and names itself', async () => {
    const { registry, folder } = await store();
    const model = await setParams(registry, 'm', { lora: [{ name: 'style', scale: 1 }] });
    const verify = async () =>
      registry.toTarget(model, { companions: await registry.companions(model) }).source.verify();
    await writeFile(join(folder, 'style.gguf'), encodeGguf(tinyLoraContent({ seed: 8 })));
    await expect(verify()).rejects.toThrow('Model "style" has changed on disk');
    await rm(join(folder, 'style.gguf'));
    await removeModel(registry, 'style');
    await expect(verify()).rejects.toThrow(
      'Model "m" cannot be loaded with lora as it is set (style is not installed)',
    );
  });

  it('is refused where it cannot apply', async () => {
    const { registry, folder } = await store();
    await writeTinyLora(join(folder, 'wide.gguf'), { width: 32 });
    await importFile(registry, join(folder, 'wide.gguf'), {});
    const attach = (...names: string[]) =>
      refusal(registry, { lora: names.map((name) => ({ name, scale: 1 })) });
    expect(await attach('style')).toBeNull();
    expect(await attach('nobody')).toBe(
      'lora is not usable: nobody is not installed; run: hearth import FILE.',
    );
    expect(await attach('m')).toBe('lora is not usable: m is a model, not an adapter.');
    expect(await attach('style', 'STYLE')).toBe('lora is not usable: style is named twice.');
    expect(await attach('wide')).toContain(
      'wide does not fit m: it changes "blk.0.attn_q.weight" as 32 x 64',
    );
    expect((await registry.find('m')).params.lora).toEqual([{ name: 'style', scale: 1 }]);
  });
});

describe('a drafting model', () => {
  it('has the same vocabulary, is opened with the model, and counts in its memory', async () => {
    const { registry, folder } = await store();
    await writeFile(join(folder, 'small.gguf'), encodeGguf(tinyChatContent({ seed: 9 })));
    await importFile(registry, join(folder, 'small.gguf'), {});
    const model = await setParams(registry, 'm', { draftModel: 'Small' });
    expect(model.params.draftModel).toBe('small');
    const { source } = registry.toTarget(model, { companions: await registry.companions(model) });
    expect(source.attached.draft).toEqual({ name: 'small', path: join(folder, 'small.gguf') });
    expect([source.kvBytesPerToken, source.weightsBytes]).toEqual([512, 2 * chatBytes().length]);
  });

  it('is refused with another vocabulary, for itself, and where it is none', async () => {
    const { registry, folder } = await store();
    const other = tinyChatContent();
    const bytes = encodeGguf({
      ...other,
      metadata: { ...other.metadata, 'tokenizer.ggml.eos_token_id': u32(40) },
    });
    await writeFile(join(folder, 'other.gguf'), bytes);
    await importFile(registry, join(folder, 'other.gguf'), {});
    const draft = (draftModel: string) => refusal(registry, { draftModel });
    expect(await draft('other')).toBe(
      'draft_model is not usable: other cannot draft for m: it ends texts with another token.',
    );
    expect(await draft('m')).toBe('draft_model is not usable: a model cannot draft for itself.');
    expect(await draft('style')).toBe('draft_model is not usable: style is not a chat model.');
    expect(await draft('gone')).toContain('gone is not installed');
  });
});

describe('a store that was read by another process', () => {
  it('knows companions by the same names', async () => {
    const { registry } = await store();
    await setParams(registry, 'm', { lora: [{ name: 'style', scale: 1 }] });
    const other = openRegistry({ home: dirname(registry.store.paths.root) });
    const companions = await other.companions(await other.find('m'));
    expect(companions.adapters.map(({ name, model }) => [name, model?.kind])).toEqual([['style', 'adapter']]);
  });
});
