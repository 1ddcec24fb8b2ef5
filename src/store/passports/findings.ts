/**
 * store/passports owns findings about installed models, in small files of the home: who signed them, and what was
 * measured. A finding is valid only while the digests of the model's files are unchanged; a lost one is made again.
 * It does not know how anything was measured.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { type Static, type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';
import { Digest, knownDigest, type ModelManifest } from '../files/manifest.ts';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import { fileFailure } from '../../lib/files/durable.ts';
import { readRecord, writeRecord } from '../../lib/files/record-file.ts';

type Subject = Pick<ModelManifest, 'id' | 'files'>;

export interface Kind<Shape extends TSchema> {
  readonly name: string;
  readonly shape: Shape;
}

export async function keepFinding<Shape extends TSchema>(
  home: string,
  model: Subject,
  kind: Kind<Shape>,
  finding: Static<Shape>,
): Promise<void> {
  await keep(findingFile(home, model, kind), { schema: 1, files: fileDigests(model), finding });
}

export async function readFinding<Shape extends TSchema>(
  home: string,
  model: Subject,
  { name, shape }: Kind<Shape>,
): Promise<Static<Shape> | null> {
  const kept = await readRecord(findingFile(home, model, { name }), Kept);
  const isOfFiles = kept?.files.join() === fileDigests(model).join();
  return isOfFiles && Check(shape, kept?.finding) ? kept.finding : null;
}

const Kept = Type.Object({ schema: Type.Literal(1), files: Type.Array(Digest), finding: Type.Unknown() });

function findingFile(home: string, { id }: Subject, { name }: { readonly name: string }): string {
  const model = createHash('sha256').update(id).digest('hex').slice(0, 32);
  return path.join(home, 'passports', `${model}.${name}.json`);
}

const fileDigests = ({ files }: Subject): string[] => files.map((file) => knownDigest(file) ?? '');

export async function keep(file: string, kept: object): Promise<void> {
  try {
    await writeRecord(file, kept);
  } catch (error) {
    // In a read-only home, each check is repeated.
    if (!isSvcError(error) && fileFailure(error) === null) throw error;
  }
}
