/**
 * Registers the models that ship with the package. A model that was offered once and then removed by the user stays
 * removed, so the ids offered so far are remembered in the home folder.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDurably } from '../lib/files/durable.ts';
import type { Logger } from '../lib/base/logger.ts';
import { type BuiltinModel, registerBuiltin } from '../store/install/builtin.ts';
import type { Registry } from '../store/registry/registry.ts';

const packageFolder = fileURLToPath(new URL('../../', import.meta.url));

const shipped: readonly BuiltinModel[] = ['hearth-mini', 'hearth-embed'].map((id) => ({
  id,
  path: path.join(packageFolder, 'models', id, 'model.gguf'),
}));

/** A failure is logged but does not stop the service: installed models can still be served. */
export async function registerBuiltins(home: string, registry: Registry, log: Logger): Promise<void> {
  try {
    const models = shipped.filter((model) => existsSync(model.path));
    const offered = readOffered(home);
    const installed = new Set((await registry.list()).map((model) => model.id));
    const wanted = models.filter((model) => installed.has(model.id) || !offered.includes(model.id));
    await registerBuiltin(registry, wanted);
    const all = [...new Set([...offered, ...models.map((model) => model.id)])];
    if (all.length > offered.length) await writeDurably(offeredFile(home), `${JSON.stringify(all)}\n`);
  } catch (error) {
    log.warn({ err: error }, 'The built-in models could not be registered.');
  }
}

/** A replay may be the first thing that happens in a home; a record of any other model leaves the home as it is. */
export async function registerMissingBuiltin(
  id: string,
  target: { readonly home: string; readonly registry: Registry; readonly log: Logger },
): Promise<void> {
  const { home, registry, log } = target;
  if (!shipped.some((model) => model.id === id)) return;
  if ((await registry.list()).some((model) => model.id === id)) return;
  await registerBuiltins(home, registry, log);
}

const offeredFile = (home: string): string => path.join(home, 'store', 'builtin-offered.json');

function readOffered(home: string): readonly string[] {
  if (!existsSync(offeredFile(home))) return [];
  const value: unknown = JSON.parse(readFileSync(offeredFile(home), 'utf8'));
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
}
