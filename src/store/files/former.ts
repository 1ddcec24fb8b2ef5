/** States that an upgrade replaced, kept for `hearth rollback`. */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { parseJson } from '../../lib/base/json.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { readText } from '../../lib/files/plain-file.ts';
import { ModelManifest } from './manifest.ts';
import type { StorePaths } from './paths.ts';

/** Chosen: more than a user goes back. Each may keep the weights of a model on the disk. */
export const MOST_FORMER = 5;
const MOST_BYTES = 8 * 1024 * 1024;

const Text = Type.String({ maxLength: 4096 });

export const FormerState = Type.Object(
  {
    at: Text,
    change: Text,
    /** Null: the packaged library. */
    library: Type.Object({ name: Type.Union([Text, Type.Null()]), sha256: Type.Union([Text, Type.Null()]) }),
    defaults: Type.Union([Text, Type.Null()]),
    model: ModelManifest,
  },
  { additionalProperties: false },
);
export type FormerState = Static<typeof FormerState>;

const FormerStates = Type.Object({
  schema: Type.Literal(1),
  states: Type.Array(FormerState, { maxItems: MOST_FORMER }),
});

/** Newest last. */
export async function readFormer({ former }: StorePaths): Promise<readonly FormerState[]> {
  const text = await readText(former, MOST_BYTES);
  if (text === null) return [];
  const value = parseJson(text);
  if (Check(FormerStates, value)) return value.states;
  const remedy = 'remove the file, and with it the states that hearth rollback knows';
  throw fail('store_unreadable', { path: former, reason: 'it is not a list of former states', remedy });
}

export const formatFormer = (states: readonly FormerState[]): string =>
  `${JSON.stringify({ schema: 1, states: states.slice(-MOST_FORMER) }, null, 2)}\n`;
