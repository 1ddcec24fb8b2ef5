/** Small JSON files that can be made again, such as measurements. */
import path from 'node:path';
import type { Static, TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { parseJson } from '../base/json.ts';
import { makeFolder, writeDurably } from './durable.ts';
import { readText } from './plain-file.ts';

const MOST_BYTES = 1024 * 1024;

/** Null if it is absent, unreadable, too long or of another shape. */
export async function readRecord<Shape extends TSchema>(
  file: string,
  shape: Shape,
  mostBytes = MOST_BYTES,
): Promise<Static<Shape> | null> {
  const text = await readText(file, mostBytes).catch(() => null);
  const record = text === null ? null : parseJson(text);
  return Check(shape, record) ? record : null;
}

export async function writeRecord(file: string, record: object): Promise<void> {
  await makeFolder(path.dirname(file));
  await writeDurably(file, `${JSON.stringify(record)}\n`);
}
