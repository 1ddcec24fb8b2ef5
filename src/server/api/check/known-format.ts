/**
 * The chat format of a model for `hearth show` and passports, from a worker that reads templates and vocabulary. Kept in the home
 * until the model, its settings or Hearth change. Losing the file costs half a second.
 */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { ModelFormatFacts } from '../../../contract/job-event.ts';
import { builtFolder } from '../../../lib/base/package-folder.ts';
import { readRecord } from '../../../lib/files/record-file.ts';
import { keep } from '../../../store/passports/findings.ts';
import type { InstalledModel } from '../../../store/registry/registry.ts';

const Kept = Type.Object({
  schema: Type.Literal(1),
  key: Type.String(),
  facts: Type.Union([ModelFormatFacts, Type.Null()]),
});

export interface FormatMemory {
  readonly home: string;
  /** Names the build of Hearth, because another one may read templates differently. */
  readonly edition: string;
}

export async function buildEdition(version: string): Promise<string> {
  const { mtimeMs } = await stat(builtFolder);
  return `${version} ${mtimeMs}`;
}

export async function knownFormat(
  { home, edition }: FormatMemory,
  { id, files, params }: InstalledModel,
  ask: () => Promise<ModelFormatFacts | null>,
): Promise<ModelFormatFacts | null> {
  const file = path.join(home, 'formats', `${sha256(id).slice(0, 32)}.json`);
  const chosen = [params.template ?? null, params.toolFormat ?? null];
  const key = sha256(JSON.stringify([edition, files, chosen]));
  const kept = await readRecord(file, Kept);
  if (kept?.key === key) return kept.facts;
  const facts = await ask();
  await keep(file, { schema: 1, key, facts } satisfies Static<typeof Kept>);
  return facts;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
