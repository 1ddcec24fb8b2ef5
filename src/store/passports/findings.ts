/** What was found out about a model: it holds for its files as they were, and for no others. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { type Static, type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';
import { Digest, knownDigest, type ModelManifest } from '../files/manifest.ts';
import { keep, readKept } from './kept-file.ts';

type Subject = Pick<ModelManifest, 'id' | 'files'>;

export interface Kind<Shape extends TSchema> {
  /** Part of the name of the file. */
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

/** Null: nothing is known of these files. */
export async function readFinding<Shape extends TSchema>(
  home: string,
  model: Subject,
  { name, shape }: Kind<Shape>,
): Promise<Static<Shape> | null> {
  const kept = await readKept(findingFile(home, model, { name }), Kept);
  const isOfFiles = kept?.files.join() === fileDigests(model).join();
  return isOfFiles && Check(shape, kept?.finding) ? kept.finding : null;
}

const Kept = Type.Object({ schema: Type.Literal(1), files: Type.Array(Digest), finding: Type.Unknown() });

function findingFile(home: string, { id }: Subject, { name }: { readonly name: string }): string {
  const model = createHash('sha256').update(id).digest('hex').slice(0, 32);
  return path.join(home, 'passports', `${model}.${name}.json`);
}

const fileDigests = ({ files }: Subject): string[] => files.map((file) => knownDigest(file) ?? '');
