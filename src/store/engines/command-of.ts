/** From an entry to what the engine starts, apart from the model. */
import type { CommandSource } from '../../engine/command/source.ts';
import type { CommandEntry } from './entry.ts';

/** Calls at a time, where neither the user nor the command says how many. */
const USUAL_CALLS = 64;

export function commandSource(
  entry: Omit<CommandEntry, 'models'>,
): Omit<CommandSource, 'model' | 'modelWord' | 'memoryBytes'> {
  const { name, command, cwd = null, env = {}, dialect, basePath, startMs, maxCalls = USUAL_CALLS } = entry;
  return { name, command, cwd, env, dialect, basePath, startMs, maxCalls };
}
