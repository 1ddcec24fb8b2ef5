/** What is known of a model that was only the reference of an evaluation. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleCard } from '../../../../test/support/records/sample-card.ts';
import { sampleFacts } from '../../../../test/support/records/sample-record.ts';
import { temporaryFolder, temporaryRegistry, writeChat } from '../../../../test/support/temp-home.ts';
import { knownDigest, modelFiles } from '../../../store/files/manifest.ts';
import { importFile } from '../../../store/install/import.ts';
import { loadIdentity } from '../../../trust/identity/instance.ts';
import { passportLines } from './passport-lines.ts';
import { makePassport, withoutPaths } from './passport.ts';

it('quotes the last evaluation that a model was the reference of, if this home signed it', async () => {
  const home = await temporaryFolder();
  const registry = await temporaryRegistry({ home });
  const model = await importFile(registry, await writeChat(home), { id: 'big' });
  const [file] = modelFiles(model);
  const blob = { blob_sha256: (file && knownDigest(file)) ?? '' };
  const identity = await loadIdentity({ home });
  const cardOf = (nowMs: number, by = identity, digest = blob) => {
    const facts = sampleFacts({ identity: by, nowMs });
    return sampleCard(facts, { reference: { ...facts.model, id: 'big', ...digest } });
  };
  const passport = () =>
    makePassport(model, { home, registry, signed: () => Promise.resolve(null), format: null });
  const keep = (id: string, card: object) =>
    writeFile(join(home, 'evals', `${id}.json`), JSON.stringify(card));
  expect((await passport()).eval_reference).toBeNull();
  await mkdir(join(home, 'evals'));
  await keep('stranger', cardOf(1_790_000_009_000, sampleFacts().identity));
  await keep('other', cardOf(1_790_000_008_000, identity, { blob_sha256: 'ab'.repeat(32) }));
  await keep('old', cardOf(1_790_000_001_000));
  await keep('new', cardOf(1_790_000_002_000));
  const told = await passport();
  expect(told).toMatchObject({
    eval: null,
    eval_reference: { of: 'tiny', bits_per_byte: 1, issued_at: '2026-09-21T14:13:22Z' },
  });
  expect(withoutPaths(told).eval_reference).toMatchObject({ of: null, bits_per_byte: 1 });
  expect(passportLines(told)).toEqual(
    expect.arrayContaining([
      ['eval', 'not yet: hearth eval big'],
      ['reference', expect.stringMatching(/^of hearth eval tiny, 1\.000 bits per byte; llama\.cpp v0\.5\.0/)],
    ]),
  );
});
