import { createHash } from 'node:crypto';
import { chmod, open, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chatBytes, temporaryFolder, temporaryRegistry, writeChat } from '../../../test/support/temp-home.ts';
import { changeableByOthers } from '../../lib/files/other-writers.ts';
import { importFile } from '../install/import.ts';
import type { InstalledModel, Registry } from './registry.ts';

const code = (name: string) => expect.objectContaining({ code: name });
const digest = createHash('sha256').update(chatBytes()).digest('hex');

interface Imported {
  readonly registry: Registry;
  readonly path: string;
  readonly model: InstalledModel;
}

async function imported(way: { hardLink?: boolean } = {}): Promise<Imported> {
  const registry = await temporaryRegistry();
  const path = await writeChat(await temporaryFolder());
  // Whole seconds: what utimes restores is then exactly what was there.
  await utimes(path, 1_700_000_000, 1_700_000_000);
  // The import finds a file whose last change lies back, as it does with files that nobody made a moment ago.
  const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
  onTestFinished(() => later.mockRestore());
  const model = await importFile(registry, path, { id: 'm', ...way });
  return { registry, path, model };
}

/** Other tensor bytes in the same file, of the same size and with the same mtime. */
async function changeInPlace(path: string): Promise<void> {
  const { atime, mtime, size } = await stat(path);
  const file = await open(path, 'r+');
  await file.write(Buffer.from([0x5a]), 0, 1, size - 2);
  await file.close();
  await utimes(path, atime, mtime);
}

describe('a file that was changed in place, its mtime restored', () => {
  it('is neither loaded nor named in a record', async () => {
    const { registry, path, model } = await imported();
    await changeInPlace(path);
    await expect(registry.toTarget(model).source.verify()).rejects.toEqual(code('model_damaged'));
    await expect(registry.provenance.of(model)).rejects.toEqual(code('model_damaged'));
  });

  it('is not named as a blob either that still has its old name elsewhere', async () => {
    const { registry, path, model } = await imported({ hardLink: true });
    expect((await registry.provenance.of(model)).files[0].sha256).toBe(digest);
    await changeInPlace(path);
    await expect(registry.provenance.of(model)).rejects.toEqual(code('model_damaged'));
  });

  it.each(['before', 'after'])('is found %s the run when it was loaded before the change', async (when) => {
    const { registry, path, model } = await imported();
    await registry.toTarget(model).source.verify();
    if (when === 'before') {
      await changeInPlace(path);
      await expect(registry.provenance.of(model)).rejects.toEqual(code('model_damaged'));
      return;
    }
    const proof = await registry.provenance.of(model);
    await proof.confirm();
    await changeInPlace(path);
    await expect(proof.confirm()).rejects.toEqual(code('evidence_unavailable'));
  });

  it('is found when the right bytes are back, because other ones may have been loaded', async () => {
    const { registry, path, model } = await imported();
    const { ctimeNs: _, ...file } = model.files[0] as { ctimeNs?: string } & InstalledModel['files'][0];
    const early = { ...model, files: [file] };
    await changeInPlace(path);
    // A manifest from before states had a ctime lets this pass; a record must not.
    await registry.toTarget(early).source.verify();
    const whole = await open(path, 'r+');
    await whole.write(chatBytes());
    await whole.close();
    const { confirm } = await registry.provenance.of(early);
    await expect(confirm()).rejects.toEqual(code('evidence_unavailable'));
  });
});

describe('a file that is only touched', () => {
  it('is still proved, by its digest', async () => {
    const { registry, path, model } = await imported();
    await registry.toTarget(model).source.verify();
    await utimes(path, 1, 1);
    const { files, confirm } = await registry.provenance.of(model);
    expect(files[0].sha256).toBe(digest);
    await confirm();
  });
});

describe.skipIf(process.platform === 'win32')('a file that other users can change', () => {
  it('is not proved, because nobody knows what it held while it was read', async () => {
    const { registry, path, model } = await imported();
    await chmod(path, 0o646);
    await expect(registry.provenance.of(model)).rejects.toEqual(code('evidence_unavailable'));
    await chmod(path, 0o644);
    expect((await registry.provenance.of(model)).files[0].sha256).toBe(digest);
  });

  it('is found through its folders, unless a closed folder shields them', async (context) => {
    const folder = await temporaryFolder();
    const closed = await closedAbove(folder);
    if (closed !== null) context.skip(`others cannot search ${closed}, which shields what lies below it`);
    const path = await writeChat(folder);
    await chmod(folder, 0o777);
    expect(await changeableByOthers(path)).toBe(folder);
    await chmod(folder, 0o1777);
    expect(await changeableByOthers(path)).toBeNull();
    await chmod(folder, 0o700);
    expect(await changeableByOthers(join(folder, '.', 'chat.gguf')).catch(() => null)).toBeNull();
  });
});

/** The nearest folder above that other users cannot search, or null. */
async function closedAbove(folder: string): Promise<string | null> {
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above))
    if (((await stat(above)).mode & 0o011) === 0) return above;
  return null;
}

it('a hard-linked blob is as private as a copied one', async () => {
  const { registry, model } = await imported({ hardLink: true });
  expect((await stat(registry.toTarget(model).source.path)).mode & 0o777).toBe(0o600);
});
