/**
 * How a chat model writes, for `hearth show`: asked of a worker that reads templates and vocabulary, and kept in the home
 * until the model, its settings or Hearth change. Losing the file costs half a second.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { ModelFormatFacts } from '../../contract/job-event.ts';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import { fileFailure, makeFolder, writeDurably } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';
import type { InstalledModel } from '../../store/registry/registry.ts';

const Kept = Type.Object({
  schema: Type.Literal(1),
  /** Digest of all that the format follows from. */
  key: Type.String(),
  facts: Type.Union([ModelFormatFacts, Type.Null()]),
});

export interface FormatMemory {
  readonly home: string;
  /** Names the build of Hearth: another one may read templates in another way. */
  readonly edition: string;
}

/** `ask` is not called for what is known. */
export async function knownFormat(
  { home, edition }: FormatMemory,
  { id, files, params }: InstalledModel,
  ask: () => Promise<ModelFormatFacts | null>,
): Promise<ModelFormatFacts | null> {
  const file = path.join(home, 'formats', `${sha256(id).slice(0, 32)}.json`);
  const chosen = [params.template ?? null, params.toolFormat ?? null];
  const key = sha256(JSON.stringify([edition, files, chosen]));
  const kept = await readKept(file);
  if (kept?.key === key) return kept.facts;
  const facts = await ask();
  await keep(file, { schema: 1, key, facts });
  return facts;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const MOST_BYTES = 1024 * 1024;

async function readKept(file: string): Promise<Static<typeof Kept> | null> {
  try {
    const value: unknown = JSON.parse((await readText(file, MOST_BYTES)) ?? 'null');
    return Check(Kept, value) ? value : null;
  } catch {
    // Whatever keeps it from being read, the question can be asked again.
    return null;
  }
}

async function keep(file: string, kept: Static<typeof Kept>): Promise<void> {
  try {
    await makeFolder(path.dirname(file));
    await writeDurably(file, `${JSON.stringify(kept)}\n`);
  } catch (error) {
    // A home that cannot be written to is asked about each time.
    if (!isSvcError(error) && fileFailure(error) === null) throw error;
  }
}
