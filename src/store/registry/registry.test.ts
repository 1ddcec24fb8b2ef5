import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { addAlias, removeModel, setParams } from '../install/changes.ts';
import { importFile } from '../install/import.ts';
import { registerBuiltin } from '../install/builtin.ts';
import { manifestPath } from '../files/paths.ts';
import { tinyChatContent } from '../../../tools/models/tiny-chat.ts';
import { encodeGguf } from '../../../tools/gguf/writer.ts';
import { openRegistry, type Registry } from './registry.ts';
import { verifyModel } from '../install/verify.ts';
import {
  chatBytes,
  temporaryFolder,
  temporaryRegistry,
  writeChat,
  writeEmbed,
} from '../../../test/support/temp-home.ts';

const code = (name: string) => expect.objectContaining({ code: name });

describe('importing a file', () => {
  it('reads what the model is and keeps the file where it is', async () => {
    const registry = await temporaryRegistry();
    const path = await writeChat(await temporaryFolder(), 'My Model-Q8_0.gguf');
    const model = await importFile(registry, path, {});
    expect(model).toMatchObject({
      id: 'my-model-q8_0',
      kind: 'chat',
      ownedBy: 'local',
      source: { type: 'file', ref: path },
      facts: { architecture: 'llama', hasChatTemplate: true },
    });
    expect(model.files).toMatchObject([{ role: 'model', path, sizeBytes: chatBytes().length }]);
    expect(await registry.list()).toEqual([model]);
  });

  it('is idempotent for the same file and refuses another file under a taken id', async () => {
    const registry = await temporaryRegistry();
    const folder = await temporaryFolder();
    await importFile(registry, await writeChat(folder, 'a.gguf'), { id: 'one' });
    await importFile(registry, join(folder, 'a.gguf'), { id: 'one' });
    expect(await registry.list()).toHaveLength(1);
    await expect(importFile(registry, await writeChat(folder, 'b.gguf', 7), { id: 'one' })).rejects.toEqual(
      code('model_exists'),
    );
  });

  it.each(['copy', 'hardLink'] as const)('by %s survives the removal of the original', async (way) => {
    const registry = await temporaryRegistry();
    const path = await writeChat(await temporaryFolder());
    const model = await importFile(registry, path, { id: 'kept', [way]: true });
    await rm(path);
    const { source } = registry.toTarget(model);
    await source.verify();
    expect((await readFile(source.path)).equals(chatBytes())).toBe(true);
  });

  it('calls the probe before anything is written and installs nothing when it fails', async () => {
    const registry = await temporaryRegistry();
    const path = await writeChat(await temporaryFolder());
    const probe = async () => {
      throw new Error('it did not load');
    };
    await expect(importFile(registry, path, { probe, copy: true })).rejects.toThrow('it did not load');
    expect(await registry.list()).toEqual([]);
  });
});

describe('resolving a name', () => {
  it('finds ids and aliases in any case and with :latest', async () => {
    const registry = await temporaryRegistry();
    const { id } = await importFile(registry, await writeChat(await temporaryFolder(), 'Tiny-Chat.gguf'), {});
    for (const name of ['tiny-chat', 'Tiny-Chat', 'TINY-CHAT', 'tiny-chat:latest'])
      expect((await registry.resolve(name, 'chat')).id).toBe(id);
  });

  it('says that a model is not installed, or of the wrong kind', async () => {
    const registry = await temporaryRegistry();
    await importFile(registry, await writeEmbed(await temporaryFolder()), { id: 'vectors' });
    await expect(registry.resolve('nothing', 'chat')).rejects.toEqual(code('model_not_found'));
    await expect(registry.resolve('vectors', 'chat')).rejects.toEqual(code('wrong_model_kind'));
    await expect(registry.resolve('default', 'chat')).rejects.toEqual(code('no_default_model'));
    expect((await registry.resolve('default-embedding', 'embedding')).id).toBe('vectors');
  });

  it('chooses the default by setting, then choice, then newest of the user, then built-in', async () => {
    const home = await temporaryFolder();
    const registry = openRegistry({ home });
    const folder = await temporaryFolder();
    await registerBuiltin(registry, [{ id: 'tiny', path: await writeChat(folder, 'builtin.gguf', 1) }]);
    expect(await registry.defaultId('chat')).toBe('tiny');
    await importFile(registry, await writeChat(folder, 'a.gguf', 2), { id: 'first' });
    await importFile(registry, await writeChat(folder, 'b.gguf', 3), { id: 'second' });
    expect(await registry.defaultId('chat')).toBe('second');
    await registry.setDefault('first');
    expect(await registry.defaultId('chat')).toBe('first');
    const configured = openRegistry({ home, settings: { defaultModel: 'second' } });
    expect((await configured.resolve('default', 'chat')).id).toBe('second');
    expect(await registry.defaultId('chat', 'first')).toBe('second');
    expect(await configured.defaultId('chat', 'second')).toBeNull();
    await removeModel(registry, 'first');
    expect(await registry.defaultId('chat')).toBe('second');
  });

  it('chooses a model without a template only where there is no other, whatever is set', async () => {
    const registry = await temporaryRegistry();
    const folder = await temporaryFolder();
    const base = join(folder, 'base.gguf');
    await writeFile(base, encodeGguf(tinyChatContent({ chatTemplate: null })));
    await importFile(registry, base, { id: 'base' });
    expect(await registry.defaultId('chat')).toBe('base');
    await registerBuiltin(registry, [{ id: 'tiny', path: await writeChat(folder, 'builtin.gguf', 1) }]);
    expect(await registry.defaultId('chat')).toBe('tiny');
    await setParams(registry, 'base', { template: 'gemma' });
    expect(await registry.defaultId('chat')).toBe('tiny');
    await registry.setDefault('base');
    await setParams(registry, 'base', { template: null });
    expect(await registry.defaultId('chat')).toBe('base');
  });
});

describe('what other processes do', () => {
  it('shows at the next look, whichever way the manifest changed', async () => {
    const home = await temporaryFolder();
    const [server, cli] = [openRegistry({ home }), openRegistry({ home })];
    expect(await server.list()).toEqual([]);
    const model = await importFile(cli, await writeChat(await temporaryFolder()), { id: 'seen' });
    expect(await server.list()).toEqual([model]);
    for (const numCtx of [64, 65, 66, 67, 68]) {
      await setParams(cli, 'seen', { numCtx });
      expect((await server.resolve('seen', 'chat')).params.numCtx).toBe(numCtx);
    }
    await removeModel(cli, 'seen');
    expect(await server.list()).toEqual([]);
  });

  it('shows although the manifest was read and kept before', async () => {
    const registry = await temporaryRegistry();
    await importFile(registry, await writeChat(await temporaryFolder()), { id: 'm' });
    // Only manifests that have settled are kept; later is made to be now.
    const later = Date.now() + 60_000;
    const clock = vi.spyOn(Date, 'now').mockReturnValue(later);
    onTestFinished(() => clock.mockRestore());
    await registry.list();
    await setParams(registry, 'm', { numCtx: 64 });
    expect((await registry.find('m')).params).toEqual({ numCtx: 64 });
  });

  it('refuses a default in words that a person can follow, under its public name', async () => {
    const registry = await temporaryRegistry();
    await importFile(registry, await writeChat(await temporaryFolder()), { id: 'm' });
    const refusal = async (params: object) =>
      setParams(registry, 'm', params).catch((error: unknown) => (error as Error).message);
    expect(await refusal({ temperature: Number('hot') })).toBe('temperature must be a number.');
    expect(await refusal({ topK: 0.5 })).toBe('top_k must be a whole number.');
    expect(await refusal({ numCtx: 1 })).toMatch(/^num_ctx must be at least \d+\.$/);
    expect(await refusal({ template: 'lama-3' })).toMatch(
      /^template is not usable; write chatml, llama-3, .* or the text itself/,
    );
    expect(await refusal({ template: '{{ x.__class__ }}' })).toBe(
      'template reaches for the insides of its interpreter.',
    );
    expect(await refusal({ toolFormat: 'hermez' })).toMatch(
      /^tool_format is not usable; write auto, .*, hermes or /,
    );
    expect(await refusal({ toolFormat: '{' })).toBe('tool_format cannot be used: it is not JSON.');
  });

  it('one damaged manifest is reported and hides no other', async () => {
    const registry = await temporaryRegistry();
    await importFile(registry, await writeChat(await temporaryFolder()), { id: 'good' });
    const folder = registry.store.paths.manifests;
    await writeFile(join(folder, 'empty.json'), '');
    await writeFile(join(folder, 'half.json'), '{"schema":1,');
    await writeFile(join(folder, 'other.json'), await readFile(join(folder, 'good.json')));
    await writeFile(join(folder, 'x%2f..%2fetc.json'), '{}');
    await mkdir(join(folder, 'folder.json'));
    expect((await registry.list()).map((model) => model.id)).toEqual(['good']);
    expect(await registry.damaged()).toHaveLength(5);
    await expect(registry.resolve('half', 'chat')).rejects.toThrow('run: hearth rm half, then');
    await expect(verifyModel(registry, 'half')).rejects.toEqual(code('manifest_damaged'));
    await removeModel(registry, 'half');
    expect(await registry.damaged()).toHaveLength(4);
  });
});

describe('a load target', () => {
  it('carries sizes and window from the header, with the model’s own defaults on top', async () => {
    const registry = await temporaryRegistry();
    const model = await importFile(registry, await writeChat(await temporaryFolder()), { id: 'm' });
    const target = registry.toTarget(model);
    expect(target).toMatchObject({ modelId: 'm', kind: 'chat', source: { threads: null } });
    expect(target.trainedCtx).toBe(model.facts.contextLength);
    expect(target.source.weightsBytes).toBe(chatBytes().length);
    // Two bytes each for 16 numbers of a key and 16 of a value, of 2 heads in 2 layers.
    expect(target.source.kvBytesPerToken).toBe(256);
    const pinned = await setParams(registry, 'm', { numCtx: 64, threads: 1 });
    expect(registry.toTarget(pinned, { numCtx: 128, numThreads: 2 })).toMatchObject({
      defaultCtx: 64,
      source: { threads: 1 },
    });
  });

  it('refuses a referenced file that changed, and accepts one that was only touched', async () => {
    const registry = await temporaryRegistry();
    const path = await writeChat(await temporaryFolder());
    const { source } = registry.toTarget(await importFile(registry, path, { id: 'm' }));
    await utimes(path, 1, 1);
    await source.verify();
    const bytes = chatBytes();
    bytes[bytes.length - 2]! ^= 1;
    await writeFile(path, bytes);
    await expect(source.verify()).rejects.toEqual(code('model_damaged'));
    await rm(path);
    await expect(source.verify()).rejects.toEqual(code('model_damaged'));
  });
});

describe('removing', () => {
  it('deletes only blobs that no other model names, and never a referenced file', async () => {
    const registry = await temporaryRegistry();
    const path = await writeChat(await temporaryFolder());
    const one = await importFile(registry, path, { id: 'one', copy: true });
    await importFile(registry, path, { id: 'two', copy: true });
    await importFile(registry, path, { id: 'three' });
    expect((await removeModel(registry, 'three')).sweep.removed).toEqual([]);
    expect((await removeModel(registry, 'one')).sweep.removed).toEqual([]);
    await registry.toTarget(one).source.verify();
    expect((await removeModel(registry, 'two')).sweep.freedBytes).toBe(chatBytes().length);
    expect((await readFile(path)).equals(chatBytes())).toBe(true);
  });

  it('of an alias keeps the model', async () => {
    const registry = await temporaryRegistry();
    await importFile(registry, await writeChat(await temporaryFolder()), { id: 'one' });
    await addAlias(registry, 'one', 'other:name');
    expect((await registry.resolve('other:name', 'chat')).id).toBe('one');
    expect((await removeModel(registry, 'other:name')).removed).toBe('alias');
    await registry.resolve('one', 'chat');
    await expect(registry.resolve('other:name', 'chat')).rejects.toEqual(code('model_not_found'));
  });

  async function installed(...ids: string[]): Promise<Registry> {
    const registry = await temporaryRegistry();
    const folder = await temporaryFolder();
    for (const [variant, id] of ids.entries())
      await importFile(registry, await writeChat(folder, 'My-File.gguf', variant), { id, copy: true });
    return registry;
  }

  it.each(['foo', 'foo:latest', 'FOO'])(
    'takes %s for the model that the name means elsewhere',
    async (name) => {
      const registry = await installed('foo', 'foo:latest');
      const { id } = await registry.find(name);
      expect(await removeModel(registry, name)).toMatchObject({ removed: 'model', id });
      expect((await registry.list()).map((model) => model.id)).toEqual(
        ['foo', 'foo:latest'].filter((other) => other !== id),
      );
    },
  );

  it('of an alias that another id resembles keeps both models', async () => {
    const registry = await installed('foo', 'bar');
    await addAlias(registry, 'bar', 'foo:latest');
    expect((await registry.find('foo:latest')).id).toBe('bar');
    expect(await removeModel(registry, 'foo:latest')).toMatchObject({ removed: 'alias', id: 'foo:latest' });
    expect(await registry.list()).toMatchObject([
      { id: 'bar', aliases: [] },
      { id: 'foo', aliases: [] },
    ]);
  });

  it('of an alias in another spelling takes that alias', async () => {
    const registry = await installed('one');
    await addAlias(registry, 'one', 'Two:latest');
    expect(await removeModel(registry, 'TWO:latest')).toMatchObject({ removed: 'alias', id: 'Two:latest' });
    expect(await registry.list()).toMatchObject([{ id: 'one', aliases: [] }]);
  });

  it('of the original spelling of an id removes the model', async () => {
    const registry = await temporaryRegistry();
    await importFile(registry, await writeChat(await temporaryFolder(), 'Tiny-Chat.gguf'), {});
    expect(await removeModel(registry, 'Tiny-Chat')).toMatchObject({ removed: 'model', id: 'tiny-chat' });
    expect(await registry.list()).toEqual([]);
  });

  it.each([
    ['foo', 'foo:latest'],
    ['foo:latest', 'foo'],
  ])('of the damaged %s keeps the healthy %s', async (broken, healthy) => {
    const registry = await installed('foo', 'foo:latest');
    await writeFile(manifestPath(registry.store.paths, broken), '{');
    expect((await registry.find(healthy)).id).toBe(healthy);
    await expect(registry.find(broken)).rejects.toEqual(code('manifest_damaged'));
    expect(await removeModel(registry, broken)).toMatchObject({ removed: 'model', id: broken });
    expect(await registry.damaged()).toEqual([]);
    expect((await registry.list()).map((model) => model.id)).toEqual([healthy]);
  });

  it('of a healthy model keeps the damaged one whose name resembles its own', async () => {
    const registry = await installed('foo', 'foo:latest');
    await writeFile(manifestPath(registry.store.paths, 'foo'), '{');
    expect(await removeModel(registry, 'foo:latest')).toMatchObject({ removed: 'model', id: 'foo:latest' });
    expect((await registry.damaged()).map((entry) => entry.id)).toEqual(['foo']);
  });
});
