/** What the maker of a model recommends for sampling, as its file states it (`general.sampling.*`). */
import { readMakerDefaults } from '../../lib/gguf/inspect.ts';
import type { InstalledModel, Registry } from './registry.ts';

/** By the file's own names, such as `temp` and `top_k`; empty where it states none. */
export async function makerDefaults(
  registry: Registry,
  model: InstalledModel,
): Promise<Readonly<Record<string, number>>> {
  return readMakerDefaults(registry.toTarget(model).source.path);
}
