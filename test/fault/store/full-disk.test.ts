/** A full disk and missing permissions: clean failures, the store as it was, and the next command succeeds. */
import { execFileSync } from 'node:child_process';
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { removeModel, setParams } from '../../../src/store/install/changes.ts';
import { importFile } from '../../../src/store/install/import.ts';
import { downloadPath } from '../../../src/store/files/paths.ts';
import { openRegistry } from '../../../src/store/registry/registry.ts';
import { sha256, startFakeHub } from '../../support/hub/fake-hub.ts';
import { asOrdinaryUser, needsReadable, restrict } from '../../support/process/other-user.ts';
import { pullAll, pullOne } from '../../support/hub/pulling.ts';
import { chatBytes, temporaryFolder, temporaryRegistry, writeChat } from '../../support/temp-home.ts';

/** A file system of its own of that size, or a skipped test that says why. */
async function smallDisk(context: TestContext, sizeKib: number): Promise<string> {
  const folder = await temporaryFolder();
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=${sizeKib}k`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    context.skip(`a small tmpfs cannot be mounted here: ${String(error).split('\n')[0]}`);
  }
  onTestFinished(() => void execFileSync('/bin/umount', ['-l', folder]));
  return folder;
}

const KIB_OF_MODEL = Math.ceil(chatBytes().length / 1024);

describe('a disk without room for the model', () => {
  it('is noticed before a pull or a copy begins', async (context) => {
    const registry = openRegistry({ home: await smallDisk(context, KIB_OF_MODEL) });
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    await expect(pullAll(registry, 'Some/Model-GGUF', hub.access)).rejects.toMatchObject({
      code: 'disk_full',
    });
    expect(hub.requests('cdn')).toEqual([]);
    const path = await writeChat(await temporaryFolder());
    await expect(importFile(registry, path, { copy: true })).rejects.toMatchObject({ code: 'disk_full' });
    expect(await readdir(registry.store.paths.partial)).toEqual([]);
  });

  it('that fills up in the middle keeps the partial file, and the pull continues when there is room', async (context) => {
    const disk = await smallDisk(context, KIB_OF_MODEL * 2);
    const filler = join(disk, 'filler');
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes() });
    // Somebody else takes the rest of the disk once the first bytes are there.
    const onStep = (step: string) => {
      if (step === 'download.chunk') fillDisk(filler);
    };
    const registry = openRegistry({ home: disk, onStep });
    await expect(pullAll(registry, 'Some/Model-GGUF', hub.access)).rejects.toMatchObject({
      code: 'disk_full',
    });
    expect(await registry.list()).toEqual([]);
    expect(await readdir(registry.store.paths.blobs)).toEqual([]);
    expect((await readFile(downloadPath(registry.store.paths, sha256(chatBytes())))).length).toBeGreaterThan(
      0,
    );
    await rm(filler);
    await pullOne(openRegistry({ home: disk }), 'Some/Model-GGUF', hub.access);
    expect(hub.requests('cdn').at(-1)?.headers.range).toMatch(/^bytes=\d+-$/);
  });

  it('that is full to the last byte keeps every manifest, and removing still works', async (context) => {
    const disk = await smallDisk(context, KIB_OF_MODEL * 3);
    const registry = openRegistry({ home: disk });
    await importFile(registry, await writeChat(await temporaryFolder()), { id: 'm', copy: true });
    const manifest = join(registry.store.paths.manifests, 'm.json');
    const before = await readFile(manifest, 'utf8');
    fillDisk(join(disk, 'filler'));
    await expect(setParams(registry, 'm', { numCtx: 64 })).rejects.toMatchObject({ code: 'disk_full' });
    expect(await readFile(manifest, 'utf8')).toBe(before);
    expect(await readdir(registry.store.paths.manifests)).toEqual(['m.json']);
    await registry.toTarget(await registry.resolve('m', 'chat')).source.verify();
    await rm(join(disk, 'filler'));
    await setParams(registry, 'm', { numCtx: 64 });
  });
});

function fillDisk(path: string): void {
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=4k'], { stdio: 'pipe' });
  } catch (error) {
    // dd ends with an error when the disk is full, which is what it is for here.
    if (!String(error).includes('No space left')) throw error;
  }
}

describe('a store that this user may not write', () => {
  async function readOnlyHome(): Promise<string> {
    const home = await temporaryFolder();
    const registry = openRegistry({ home });
    await importFile(registry, await writeChat(home, 'a.gguf'), { id: 'm', copy: true });
    for (const folder of ['.', 'store', 'store/manifests', 'store/blobs', 'store/partial', 'store/split'])
      await restrict(join(home, folder), 0o555);
    for (const name of await readdir(join(home, 'store/blobs')))
      await chmod(join(home, 'store/blobs', name), 0o444);
    await chmod(join(home, 'store/manifests/m.json'), 0o444);
    return home;
  }

  it('serves what is there and refuses every change with the path and the reason', async (context) => {
    const home = await readOnlyHome();
    needsReadable(context, home);
    const other = await writeChat(await worldReadableFolder(), 'b.gguf', 2);
    await chmod(other, 0o644);
    const hub = await startFakeHub({ 'x-Q4_0.gguf': chatBytes(3) });
    await asOrdinaryUser(async () => {
      const registry = openRegistry({ home });
      const model = await registry.resolve('default', 'chat');
      await registry.toTarget(model).source.verify();
      const changes = [
        () => setParams(registry, 'm', { numCtx: 64 }),
        () => removeModel(registry, 'm'),
        () => registry.setDefault('m'),
        () => importFile(registry, other, { id: 'x' }),
        () => importFile(registry, other, { id: 'x', copy: true }),
        () => pullAll(registry, 'Some/Model-GGUF', hub.access),
      ];
      for (const change of changes)
        await expect(change(), String(change)).rejects.toMatchObject({ code: 'store_unwritable' });
    });
    expect((await openRegistry({ home }).list()).map((model) => model.id)).toEqual(['m']);
  });

  it('says of an unreadable model file and of an unreadable store that they are that', async (context) => {
    const registry = await temporaryRegistry();
    const folder = await worldReadableFolder();
    needsReadable(context, folder);
    const path = await writeChat(folder);
    await registry.store.prepareFolders();
    for (const each of [path, registry.store.paths.manifests]) await restrict(each, 0);
    await asOrdinaryUser(async () => {
      await expect(importFile(registry, path, {})).rejects.toMatchObject({ code: 'store_unreadable' });
      await expect(registry.list()).rejects.toMatchObject({ code: 'store_unreadable' });
    });
  });
});

describe('what the store writes', () => {
  it('is for its owner only', async () => {
    const home = await temporaryFolder();
    const registry = openRegistry({ home });
    const path = await writeChat(await temporaryFolder());
    await chmod(path, 0o666);
    await importFile(registry, path, { id: 'm', copy: true });
    await registry.setDefault('m');
    const modes = execFileSync('find', [join(home, 'store'), '-printf', '%m %y\n'])
      .toString()
      .trim()
      .split('\n');
    expect(new Set(modes)).toEqual(new Set(['700 d', '600 f']));
  });
});

async function worldReadableFolder(): Promise<string> {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  return folder;
}
