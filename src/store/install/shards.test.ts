/** Split models in the store: the engine opens shards by their names, so these names must lead to the right bytes. */
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prune, removeModel } from './changes.ts';
import { importFile } from './import.ts';
import { blobPath } from '../files/paths.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';
import { verifyModel } from './verify.ts';
import { sha256 } from '../../../test/support/hub/fake-hub.ts';
import { chatParts, temporaryFolder, temporaryRegistry } from '../../../test/support/temp-home.ts';

const [FIRST, SECOND] = chatParts();
/** A second part of equal shape and other bytes. */
const OTHER_SECOND = Buffer.from(SECOND).fill(1, SECOND.length - 1);
const NAMES = ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'] as const;

async function writeParts(...parts: readonly Buffer[]): Promise<string> {
  const folder = await temporaryFolder();
  for (const [position, name] of NAMES.entries())
    await writeFile(join(folder, name), parts[position] ?? Buffer.alloc(0));
  return join(folder, NAMES[0]);
}

/** What native code reads: the first part by its path, the second by its name beside the first. */
async function opened(registry: Registry, model: InstalledModel): Promise<Buffer[]> {
  const { path } = registry.toTarget(model).source;
  return Promise.all(NAMES.map((name) => readFile(join(dirname(path), name))));
}

describe('models that share their first part', () => {
  it('are each opened with their own second part', async () => {
    const registry = await temporaryRegistry();
    const one = await importFile(registry, await writeParts(FIRST, SECOND), { id: 'one', copy: true });
    const two = await importFile(registry, await writeParts(FIRST, OTHER_SECOND), { id: 'two', copy: true });
    expect(await opened(registry, one)).toEqual([FIRST, SECOND]);
    expect(await opened(registry, two)).toEqual([FIRST, OTHER_SECOND]);
    await removeModel(registry, 'one');
    expect(await readdir(registry.store.paths.split)).toHaveLength(1);
    expect(await opened(registry, two)).toEqual([FIRST, OTHER_SECOND]);
  });
});

describe('a shard whose name leads to other bytes than its blob', () => {
  it('is right again after the model was imported again over a damaged blob', async () => {
    const registry = await temporaryRegistry();
    const path = await writeParts(FIRST, SECOND);
    await importFile(registry, path, { id: 'm', copy: true });
    await writeFile(blobPath(registry.store.paths, sha256(SECOND)), OTHER_SECOND);
    expect(await verifyModel(registry, 'm')).toMatchObject({ ok: false });
    const model = await importFile(registry, path, { id: 'm', copy: true });
    expect(await opened(registry, model)).toEqual([FIRST, SECOND]);
    expect(await verifyModel(registry, 'm')).toMatchObject({ ok: true });
  });

  it.each(['load', 'hearth verify'])('is made right by a %s', async (way) => {
    const registry = await temporaryRegistry();
    const path = await writeParts(FIRST, SECOND);
    const model = await importFile(registry, path, { id: 'm', copy: true });
    const target = registry.toTarget(model).source;
    const shard = join(dirname(target.path), NAMES[1]);
    await rm(shard);
    await writeFile(shard, OTHER_SECOND);
    if (way === 'load') await target.verify();
    else expect(await verifyModel(registry, 'm')).toMatchObject({ ok: true });
    expect(await opened(registry, model)).toEqual([FIRST, SECOND]);
    expect((await readdir(dirname(target.path))).sort()).toEqual(NAMES);
  });
});

describe('hearth prune', () => {
  it('removes folders of shards that no model opens', async () => {
    const registry = await temporaryRegistry();
    const { paths } = registry.store;
    const model = await importFile(registry, await writeParts(FIRST, SECOND), { id: 'm', copy: true });
    const unused = join(paths.split, sha256(FIRST));
    await mkdir(unused);
    await link(blobPath(paths, sha256(FIRST)), join(unused, NAMES[0]));
    await prune(registry);
    expect(await readdir(paths.split)).toHaveLength(1);
    expect(await opened(registry, model)).toEqual([FIRST, SECOND]);
  });
});
