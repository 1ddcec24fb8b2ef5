/** Values that a model's maker states in its file: recommended sampling (`general.sampling.*`), and the template. */
import { readMakerDefaults, readTemplateText } from '../../lib/gguf/inspect.ts';
import type { InstalledModel, Registry } from './registry.ts';

/** By the file's own names, such as `temp` and `top_k`; empty if it states none. */
export async function makerDefaults(
  registry: Registry,
  model: InstalledModel,
): Promise<Readonly<Record<string, number>>> {
  return readMakerDefaults(registry.toTarget(model).source.path);
}

/** The chat template of the file; null where it has none. */
export async function makerTemplate(registry: Registry, model: InstalledModel): Promise<string | null> {
  return readTemplateText(registry.toTarget(model).source.path);
}
