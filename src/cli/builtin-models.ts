/**
 * Registers the models that ship with the package. A shipped model that the user removed stays removed, so the home
 * folder contains a list of the ids offered so far.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseJson } from '../lib/base/json.ts';
import { writeDurably } from '../lib/files/durable.ts';
import { packageFolder } from '../lib/base/package-folder.ts';
import { readText } from '../lib/files/plain-file.ts';
import { BUILTIN_IDS, builtinNamed } from '../lib/errors/builtin-ids.ts';
import { fail, isSvcError } from '../lib/errors/svc-error.ts';
import type { Logger } from '../lib/base/logger.ts';
import type { Builtins } from '../server/api/library.ts';
import { BUILTIN_FACTS, type BuiltinFacts } from '../store/files/builtin-facts.ts';
import { type BuiltinModel, registerBuiltin } from '../store/install/builtin.ts';
import type { Registry } from '../store/registry/registry.ts';

type Shipped = BuiltinModel & BuiltinFacts;

const shipped: readonly Shipped[] = BUILTIN_FACTS.map((model) => ({
  ...model,
  path: path.join(packageFolder, 'models', model.id, 'model.gguf'),
}));

export function shippedChatModel(): { readonly id: string; readonly path: string } {
  const found = shipped.find(({ id }) => id === BUILTIN_IDS.chat);
  if (found === undefined) throw new Error('no chat model ships with Hearth');
  return found;
}

async function missingBuiltins(registry: Registry): Promise<readonly string[]> {
  const installed = new Set((await registry.list()).map(({ id }) => id));
  return shipped.filter(({ id, path: file }) => !installed.has(id) && existsSync(file)).map(({ id }) => id);
}

export async function removedBuiltins(home: string, registry: Registry): Promise<readonly string[]> {
  const [missing, offered] = await Promise.all([missingBuiltins(registry), readOffered(home)]);
  return missing.filter((id) => offered.includes(id));
}

export interface Restored {
  readonly id: string;
  readonly wasMissing: boolean;
}

export async function restoreBuiltins(
  { home, registry }: { readonly home: string; readonly registry: Registry },
  names: readonly string[],
): Promise<readonly Restored[]> {
  const stranger = names.find((name) => builtinNamed(name) === null);
  if (stranger !== undefined) {
    const ids = shipped.map(({ id }) => id).join(' and ');
    throw fail('invalid_request', {
      param: 'id',
      message: `${stranger} does not ship with Hearth, which has ${ids}; install other models with hearth pull or hearth import.`,
    });
  }
  const wanted =
    names.length === 0
      ? shipped
      : shipped.filter(({ id }) => names.some((name) => builtinNamed(name) === id));
  const installed = new Set((await registry.list()).map(({ id }) => id));
  await registerBuiltin(registry, wanted);
  await noteOffered(home, wanted);
  return wanted.map(({ id }) => ({ id, wasMissing: !installed.has(id) }));
}

export const openBuiltins = (home: string): Builtins => ({
  missing: missingBuiltins,
  restore: async (registry, id) => {
    await restoreBuiltins({ home, registry }, [id]);
  },
});

/** A failure is logged but does not stop the service: installed models can still be served. */
export async function registerBuiltins(home: string, registry: Registry, log: Logger): Promise<void> {
  try {
    const models = shipped.filter((model) => existsSync(model.path));
    const offered = await readOffered(home);
    const installed = new Set((await registry.list()).map((model) => model.id));
    const wanted = models.filter((model) => installed.has(model.id) || !offered.includes(model.id));
    await registerBuiltin(registry, wanted);
    await noteOffered(home, models);
  } catch (error) {
    const what = 'The built-in models could not be registered';
    if (isSvcError(error)) log.warn({}, `${what}: ${error.message}`);
    else log.warn({ err: error }, `${what}.`);
  }
}

/** A replay may be the first use of a home; a record of another model leaves the home unchanged. */
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

async function noteOffered(home: string, models: readonly BuiltinModel[]): Promise<void> {
  const offered = await readOffered(home);
  const all = [...new Set([...offered, ...models.map(({ id }) => id)])];
  if (all.length > offered.length) await writeDurably(offeredFile(home), `${JSON.stringify(all)}\n`);
}

async function readOffered(home: string): Promise<readonly string[]> {
  const text = await readText(offeredFile(home));
  if (text === null) return [];
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
}
