import { readMakerDefaults, readTemplateText } from '../../lib/gguf/inspect.ts';
import type { InstalledModel, Registry } from './registry.ts';

/** Keyed by the file's own names, such as `temp` and `top_k`; empty if it has none. */
export async function makerDefaults(
  registry: Registry,
  model: InstalledModel,
): Promise<Readonly<Record<string, number>>> {
  return readMakerDefaults(registry.toTarget(model).source.path);
}

export async function makerTemplate(registry: Registry, model: InstalledModel): Promise<string | null> {
  return readTemplateText(registry.toTarget(model).source.path);
}
