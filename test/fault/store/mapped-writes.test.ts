/** Bytes of a model that change through a mapping, of which no time stamp tells. Linux only: the test maps files itself. */
import { rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { importFile } from '../../../src/store/install/import.ts';
import type { InstalledModel, Registry } from '../../../src/store/registry/registry.ts';
import { folderInMemory, mapForWriting, type MappedFile } from '../../support/mapped-file.ts';
import { temporaryRegistry, writeChat } from '../../support/temp-home.ts';

const code = (name: string) => expect.objectContaining({ code: name });
const stampOf = async (file: string) => {
  const { mtimeNs, ctimeNs, size } = await stat(file, { bigint: true });
  return [mtimeNs, ctimeNs, size];
};

let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ folder, remove } = await folderInMemory());
});
afterAll(() => remove());

interface Mapped {
  readonly file: string;
  readonly registry: Registry;
  readonly model: InstalledModel;
  /** Changes one byte of the weights. */
  readonly change: () => Promise<void>;
}

let files = 0;
const pathOf = (registry: Registry, model: InstalledModel): string => registry.toTarget(model).source.path;

/** The mapping is older than the import, as that of a program which once had the right to it. */
async function mapped(way: { hardLink?: true; copy?: true } = {}): Promise<Mapped> {
  files += 1;
  const file = await writeChat(folder, `mapped-${files}.gguf`);
  const mapping: MappedFile = await mapForWriting(file);
  onTestFinished(() => mapping.unmap());
  const { size } = await stat(file);
  const at = size - 2;
  // The first write to a page moves the time stamps; from then on, the page is written without the kernel.
  mapping.write(at, 1);
  await utimes(file, 1_700_000_000, 1_700_000_000);
  // The import finds a file whose last change lies back.
  const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
  onTestFinished(() => later.mockRestore());
  // Beside the file, so that it can be linked.
  const registry = await temporaryRegistry({ home: path.join(folder, `home-${files}`) });
  const model = await importFile(registry, file, { id: `m${files}`, ...way });
  return {
    file,
    registry,
    model,
    change: async () => {
      const seen = (await stat(file).catch(() => null)) === null ? pathOf(registry, model) : file;
      const before = await stampOf(seen);
      mapping.write(at, 0x5a);
      expect(await stampOf(seen)).toEqual(before);
    },
  };
}

describe.runIf(process.platform === 'linux')('a byte that changes through a mapping', () => {
  it('after the run is found, though no time stamp moved, and stays found', async () => {
    const { registry, model, change } = await mapped();
    await registry.toTarget(model).source.verify();
    const proof = await registry.provenance.of(model);
    await proof.confirm();
    await change();
    await expect(proof.confirm()).rejects.toEqual(code('evidence_unavailable'));
    const next = await registry.provenance.of(model);
    await expect(next.confirm()).rejects.toEqual(code('evidence_unavailable'));
  });

  it('between the load and the first record is found before anything runs', async () => {
    const { registry, model, change } = await mapped();
    await registry.toTarget(model).source.verify();
    await change();
    await expect(registry.provenance.of(model)).rejects.toEqual(code('model_damaged'));
  });

  it('of a file whose digest a foreign store stated is no other model', async () => {
    const { registry, model, change } = await mapped();
    const stated = {
      ...model,
      files: model.files.map((file) => ({ ...file, digestOrigin: 'stated' as const })),
    };
    await registry.toTarget(stated).source.verify();
    await change();
    await expect(registry.provenance.of(stated)).rejects.toEqual(code('model_damaged'));
  });

  it('is nothing to a copy', async () => {
    const { registry, model, change } = await mapped({ copy: true });
    const proof = await registry.provenance.of(model);
    await change();
    await proof.confirm();
    expect((await registry.provenance.of(model)).files).toEqual(proof.files);
  });

  it('of a hard link is found too, after its other name is gone', async () => {
    const { registry, model, change, file } = await mapped({ hardLink: true });
    await rm(file);
    const proof = await registry.provenance.of(model);
    await proof.confirm();
    await change();
    await expect(proof.confirm()).rejects.toEqual(code('evidence_unavailable'));
  });
});
