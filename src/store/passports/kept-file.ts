/**
 * store/passports owns what Hearth found out about installed models, in small files of the home: who signed them, and what
 * was measured. Losing one costs the work of finding out again. It does not know how anything was found out.
 * This file: one such file, whatever is in it.
 */
import path from 'node:path';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import { fileFailure, makeFolder, writeDurably } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';

const MOST_BYTES = 1024 * 1024;

/** Null where there is none, or one of another shape. */
export async function readKept<Shape extends TSchema>(
  file: string,
  shape: Shape,
): Promise<Static<Shape> | null> {
  try {
    const value: unknown = JSON.parse((await readText(file, MOST_BYTES)) ?? 'null');
    return Check(shape, value) ? value : null;
  } catch {
    // Whatever keeps it from being read, the question can be asked again.
    return null;
  }
}

export async function keep(file: string, kept: object): Promise<void> {
  try {
    await makeFolder(path.dirname(file));
    await writeDurably(file, `${JSON.stringify(kept)}\n`);
  } catch (error) {
    // A home that cannot be written to is asked about each time.
    if (!isSvcError(error) && fileFailure(error) === null) throw error;
  }
}
