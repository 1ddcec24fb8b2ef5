import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeChat } from '../../../test/support/temp-home.ts';
import { MOST_FORMER, readFormer } from '../files/former.ts';
import type { ServedManifest } from '../files/manifest.ts';
import { blobPath } from '../files/paths.ts';
import { openRegistry, type Registry } from '../registry/registry.ts';
import { addAlias, prune, removeModel, setParams } from './changes.ts';
import { importFile } from './import.ts';
import { forgetStates, keepState, restoreState, takeFiles } from './upgrade.ts';

const present = { at: 'now', change: 'mine with the files of next', library: { name: null, sha256: null } };

async function home(): Promise<Registry> {
  const files = await temporaryFolder();
  const registry = openRegistry({ home: await temporaryFolder() });
  for (const [seed, id] of ['mine', 'next', 'later'].entries())
    await importFile(registry, await writeChat(files, `${id}.gguf`, seed), { id, copy: true });
  await addAlias(registry, 'mine', 'helper');
  await setParams(registry, 'mine', { temperature: 0.3 });
  return registry;
}

const chat = (registry: Registry, id: string): Promise<ServedManifest> => registry.resolve(id, 'chat');

async function take(registry: Registry, id = 'next'): Promise<void> {
  const [model, next] = [await chat(registry, 'mine'), await chat(registry, id)];
  await takeFiles(registry, { model, next }, present);
}

const last = async (registry: Registry) => (await readFormer(registry.store.paths)).at(-1)!;

function hasBlobs(registry: Registry, { files }: ServedManifest): boolean {
  return files.every((file) => 'digest' in file && existsSync(blobPath(registry.store.paths, file.digest)));
}

describe('an upgrade', () => {
  it('gives a model the files of another one under its own names and settings, and back', async () => {
    const registry = await home();
    const [before, next] = [await chat(registry, 'mine'), await chat(registry, 'next')];
    await take(registry);
    const { id, aliases, params, addedAt } = before;
    expect(await chat(registry, 'helper')).toEqual({ ...next, id, aliases, params, addedAt });
    await registry.setDefault('later');
    await setParams(registry, 'mine', { temperature: 0.9 });
    await restoreState(registry, await last(registry));
    expect(await chat(registry, 'mine')).toEqual(before);
    expect(await registry.chosenDefault('chat')).toBe(null);
    expect(await readFormer(registry.store.paths)).toEqual([]);
  });

  it('keeps the weights that it replaced until they are given up', async () => {
    const registry = await home();
    const before = await chat(registry, 'mine');
    await take(registry);
    await prune(registry);
    expect(hasBlobs(registry, before)).toBe(true);
    expect(await forgetStates(registry)).toBe(before.facts.sizeBytes);
    expect(hasBlobs(registry, before)).toBe(false);
    expect(hasBlobs(registry, await chat(registry, 'mine'))).toBe(true);
  });

  it('gives them up with the model, and a state without its model brings back the rest', async () => {
    const registry = await home();
    const before = await chat(registry, 'mine');
    await take(registry);
    await removeModel(registry, 'mine');
    expect(hasBlobs(registry, before)).toBe(false);
    expect(hasBlobs(registry, await chat(registry, 'next'))).toBe(true);
    await restoreState(registry, await last(registry));
    expect((await registry.list()).map(({ id }) => id)).toEqual(['later', 'next']);
    expect(await readFormer(registry.store.paths)).toEqual([]);
  });

  it('pushes out the oldest state with its weights', async () => {
    const registry = await home();
    const before = await chat(registry, 'mine');
    await take(registry);
    for (let count = 1; count <= MOST_FORMER; count += 1) {
      expect(hasBlobs(registry, before)).toBe(true);
      await keepState(registry, 'mine', { ...present, at: String(count) });
    }
    expect(hasBlobs(registry, before)).toBe(false);
    expect((await readFormer(registry.store.paths)).map(({ at }) => at)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('is refused where a model is not what was compared', async () => {
    const registry = await home();
    const [model, next] = [await chat(registry, 'mine'), await chat(registry, 'next')];
    await setParams(registry, 'next', { temperature: 1 });
    await expect(takeFiles(registry, { model, next }, present)).rejects.toThrow(/"next" was changed/);
    expect(await chat(registry, 'mine')).toEqual(model);
    expect(await readFormer(registry.store.paths)).toEqual([]);
  });
});
