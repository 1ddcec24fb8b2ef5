import type * as fs from 'node:fs/promises';
import { rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryRegistry, writeChat, temporaryFolder } from '../../../test/support/temp-home.ts';
import { importFile } from '../install/import.ts';
import { InstalledReader } from './installed.ts';
import { formatManifest, modelFiles, type ModelManifest } from './manifest.ts';
import type { Registry } from '../registry/registry.ts';

const disk = vi.hoisted(() => ({ isShort: false, open: 0, mostOpen: 0 }));
vi.mock('node:fs/promises', async (importActual) => {
  const actual = await importActual<typeof fs>();
  const readFile = async (...args: Parameters<typeof actual.readFile>) => {
    if (disk.isShort) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    disk.open += 1;
    disk.mostOpen = Math.max(disk.mostOpen, disk.open);
    return await actual.readFile(...args).finally(() => (disk.open -= 1));
  };
  return { ...actual, readFile };
});

let registry: Registry;
let model: ModelManifest;
let reader: InstalledReader;

/** As another process changes it: a temporary file and a rename, or, by hand, in place. */
const manifest = (name: string): string => join(registry.store.paths.manifests, name);
const write = (name: string, params: ModelManifest['params']) =>
  writeFile(manifest(name), formatManifest({ ...model, params }));
const params = async () => (await reader.read()).manifests.map((entry) => entry.params);

/** Moves the clock on, so that what lies on the disk has settled and is kept. */
const advance = (ms: number): void => setClock(Date.now() + ms);

function setClock(now: number): void {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
  onTestFinished(() => clock.mockRestore());
}

beforeEach(async () => {
  registry = await temporaryRegistry();
  model = await importFile(registry, await writeChat(await temporaryFolder()), { id: 'm' });
  reader = new InstalledReader(registry.store.paths);
});

describe('a set of models that was read and kept', () => {
  it('is given again while nothing changes', async () => {
    advance(60_000);
    expect(await reader.read()).toBe(await reader.read());
  });

  it('shows every replaced manifest with the next read', async () => {
    advance(60_000);
    expect(await params()).toEqual([{}]);
    for (const numCtx of [64, 65, 66]) {
      await write('.m.tmp', { numCtx });
      await rename(manifest('.m.tmp'), manifest('m.json'));
      // The clock of the file system ticks in milliseconds; this loop is faster.
      await utimes(registry.store.paths.manifests, numCtx, numCtx);
      expect(await params()).toEqual([{ numCtx }]);
    }
  });

  it('shows an edit in place after a second', async () => {
    advance(60_000);
    expect(await params()).toEqual([{}]);
    await write('m.json', { numCtx: 64 });
    await utimes(manifest('m.json'), 1, 1);
    advance(1001);
    expect(await params()).toEqual([{ numCtx: 64 }]);
  });

  it('is not kept while the folder may still change within one tick of its clock', async () => {
    setClock((await stat(registry.store.paths.manifests)).mtimeMs + 1);
    expect(await reader.read()).not.toBe(await reader.read());
  });

  it('does not keep as damage what only could not be read for a moment', async () => {
    advance(60_000);
    disk.isShort = true;
    onTestFinished(() => void (disk.isShort = false));
    expect(await reader.read()).toMatchObject({ manifests: [], damaged: [{ id: 'm', reason: 'EMFILE' }] });
    disk.isShort = false;
    advance(1001);
    expect(await reader.read()).toMatchObject({ manifests: [{ id: 'm' }], damaged: [] });
  });

  it('is read a few files at a time, in order', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `m${String(i).padStart(2, '0')}`);
    for (const id of ids) await writeFile(manifest(`${id}.json`), formatManifest({ ...model, id }));
    disk.mostOpen = 0;
    expect((await reader.read()).manifests.map(({ id }) => id)).toEqual(['m', ...ids]);
    expect(disk.mostOpen).toBe(16);
  });

  it.each(['mmproj', 'adapter'])(
    'holds a model with a file of the role %s, which is not loaded',
    async (role) => {
      const files = [{ ...model.files[0], role }, ...model.files];
      await writeFile(manifest('m.json'), JSON.stringify({ ...model, files }));
      const { manifests, damaged } = await reader.read();
      expect(damaged).toEqual([]);
      expect(manifests.map(modelFiles)).toEqual([model.files]);
    },
  );

  it('is empty once the store is gone', async () => {
    advance(60_000);
    expect(await params()).toEqual([{}]);
    await rename(registry.store.paths.root, `${registry.store.paths.root}-gone`);
    expect(await params()).toEqual([]);
  });
});
