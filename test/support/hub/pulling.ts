/** Runs a pull to its end and keeps what it said on the way. */
import type { InstallEvent } from '../../../src/store/install/install-event.ts';
import { type PullOptions, pullModel } from '../../../src/store/hub/pull.ts';
import type { InstalledModel, Registry } from '../../../src/store/registry/registry.ts';

export async function pullAll(
  registry: Registry,
  ref: string,
  options: PullOptions,
): Promise<InstallEvent[]> {
  const events: InstallEvent[] = [];
  for await (const event of pullModel(registry, ref, options)) events.push(event);
  return events;
}

export async function pullOne(
  registry: Registry,
  ref: string,
  options: PullOptions,
): Promise<InstalledModel> {
  const last = (await pullAll(registry, ref, options)).at(-1);
  if (last?.status !== 'success') throw new Error('the pull ended without success');
  return registry.find(last.id);
}
