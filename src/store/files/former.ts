/** States that an upgrade replaced, kept so that `hearth rollback` can bring them back. */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { fail } from '../../lib/errors/svc-error.ts';
import { readText } from '../../lib/files/plain-file.ts';
import { ModelManifest } from './manifest.ts';
import type { StorePaths } from './paths.ts';

/** More than a user would go back; each may keep the weights of a model. */
export const MOST_FORMER = 5;
const MOST_BYTES = 8 * 1024 * 1024;

const Text = Type.String({ maxLength: 4096 });

export const FormerState = Type.Object(
  {
    /** RFC 3339, UTC. */
    at: Text,
    /** Describes the upgrade, in words. */
    change: Text,
    /** The selected build of llama.cpp; null: the package. */
    library: Type.Object({ name: Type.Union([Text, Type.Null()]), sha256: Type.Union([Text, Type.Null()]) }),
    /** The text of the chosen defaults; null: none were chosen. */
    defaults: Type.Union([Text, Type.Null()]),
    /** The model with its revision and its settings. */
    model: ModelManifest,
  },
  { additionalProperties: false },
);
export type FormerState = Static<typeof FormerState>;

const FormerStates = Type.Object({
  schema: Type.Literal(1),
  states: Type.Array(FormerState, { maxItems: MOST_FORMER }),
});

/** The newest last. */
export async function readFormer({ former }: StorePaths): Promise<readonly FormerState[]> {
  const text = await readText(former, MOST_BYTES);
  if (text === null) return [];
  const value = parsed(text);
  if (Check(FormerStates, value)) return value.states;
  const remedy = 'remove the file, and with it the states that hearth rollback knows';
  throw fail('store_unreadable', { path: former, reason: 'it is not a list of former states', remedy });
}

export const formatFormer = (states: readonly FormerState[]): string =>
  `${JSON.stringify({ schema: 1, states: states.slice(-MOST_FORMER) }, null, 2)}\n`;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
