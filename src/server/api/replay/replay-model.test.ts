/** Records of split models: every part counts, and only a model file that passes the gate is run. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findModel } from './replay-model.ts';
import { isFailure } from '../../../lib/errors/svc-error.ts';
import { checkArtefacts, differences, type ModelFiles } from '../../../trust/evidence/compare.ts';
import type { Predicate } from '../../../trust/evidence/statement.ts';
import { importFile } from '../../../store/install/import.ts';
import { openRegistry } from '../../../store/registry/registry.ts';
import { sha256 } from '../../../../test/support/hub/fake-hub.ts';
import { chatParts, temporaryFolder } from '../../../../test/support/temp-home.ts';
import { samplePredicate } from '../../../../test/support/records/sample-record.ts';

const [FIRST, SECOND] = chatParts();
/** A second part of equal shape and other bytes. */
const OTHER_SECOND = Buffer.from(SECOND).fill(1, SECOND.length - 1);

const filesOf = (first: Buffer, ...parts: readonly Buffer[]): ModelFiles => ({
  blob_sha256: sha256(first),
  shards: parts.map((part) => ({ sha256: sha256(part) })),
});

function claimOf(first: Buffer, ...parts: readonly Buffer[]): Predicate {
  const predicate = samplePredicate();
  const shards = parts.map((part) => ({ sha256: sha256(part), size: part.length }));
  return {
    ...predicate,
    model: { ...predicate.model, blob_sha256: sha256(first), size: first.length, shards },
  };
}

async function writeParts(second: Buffer | null): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'm-00001-of-00002.gguf'), FIRST);
  if (second !== null) await writeFile(join(folder, 'm-00002-of-00002.gguf'), second);
  return join(folder, 'm-00001-of-00002.gguf');
}

describe('a further part', () => {
  const claimed = claimOf(FIRST, SECOND);
  const found = (model: ModelFiles | null) =>
    checkArtefacts(claimed, { model, backend: null, server: null }).filter(
      ({ name }) => name === 'further parts',
    );

  it('is compared with the record', () => {
    expect(found(filesOf(FIRST, SECOND))).toMatchObject([{ outcome: 'passed' }]);
    expect(found(filesOf(FIRST, OTHER_SECOND))).toMatchObject([{ outcome: 'incomparable' }]);
    expect(found(filesOf(FIRST))).toMatchObject([{ outcome: 'incomparable' }]);
    expect(found(null)).toEqual([]);
  });

  it('is one of the terms of a replay', () => {
    expect(differences(claimed, { ...claimed, model: filesOf(FIRST, SECOND) })).toEqual([]);
    expect(differences(claimed, { ...claimed, model: filesOf(FIRST, OTHER_SECOND) })).toEqual([
      expect.stringMatching(/^further parts: here /),
    ]);
  });
});

describe('the model of a replay', () => {
  it('is the installed one with the very parts of the record', async () => {
    const home = await temporaryFolder();
    const registry = openRegistry({ home });
    await importFile(registry, await writeParts(OTHER_SECOND), { id: 'other', copy: true });
    await importFile(registry, await writeParts(SECOND), { id: 'right', copy: true });
    const find = async (...parts: Buffer[]) =>
      (await findModel({ home }, claimOf(...(parts as [Buffer])), undefined))?.files;
    expect(await find(FIRST, SECOND)).toEqual(filesOf(FIRST, SECOND));
    expect(await find(FIRST, OTHER_SECOND)).toEqual(filesOf(FIRST, OTHER_SECOND));
    // Without such a model, the closest one shows what differs.
    expect((await find(FIRST, FIRST))?.blob_sha256).toBe(sha256(FIRST));
    expect(await find(SECOND)).toBeUndefined();
  });

  it('is found behind installed models whose files are gone', async () => {
    const home = await temporaryFolder();
    const registry = openRegistry({ home });
    const [first, second] = [await writeParts(SECOND), await writeParts(SECOND)];
    await importFile(registry, first, { id: 'a-gone', copy: false });
    await importFile(registry, second, { id: 'b-without-a-part', copy: false });
    await rm(first);
    await rm(second.replace('00001-of', '00002-of'));
    const find = () => findModel({ home }, claimOf(FIRST, SECOND), undefined);
    const refused = await find().catch((error: unknown) => error);
    expect(isFailure(refused, 'record_not_comparable')).toBe(true);
    expect(String(refused)).toContain(first);
    await importFile(registry, await writeParts(SECOND), { id: 'right', copy: true });
    expect((await find())?.files).toEqual(filesOf(FIRST, SECOND));
  });

  it('is a named file with its parts beside it', async () => {
    const home = await temporaryFolder();
    const model = await findModel({ home }, samplePredicate(), await writeParts(SECOND));
    expect(model?.files).toEqual(filesOf(FIRST, SECOND));
  });

  it.each([
    ['is not there', async () => join(await temporaryFolder(), 'none.gguf'), /none\.gguf/],
    ['lacks a part', () => writeParts(null), /00002-of-00002/],
    ['is no model', async () => 'README.md', /GGUF/],
  ])('is refused where the file %s', async (_, file, reason) => {
    const home = await temporaryFolder();
    const refused = await findModel({ home }, samplePredicate(), await file()).catch(
      (error: unknown) => error,
    );
    expect(isFailure(refused, 'record_not_comparable')).toBe(true);
    expect(String(refused)).toMatch(reason);
  });
});
