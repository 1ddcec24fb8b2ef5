/** Installs the models that ship with the package by reference, so that a first chat works offline. */
import { stampFile, sameStamp } from '../../lib/files/plain-file.ts';
import { installCandidate } from './import.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';
import { isBlobFile } from '../files/manifest.ts';

export interface BuiltinModel {
  readonly id: string;
  readonly path: string;
  readonly aliases?: readonly string[];
}

/**
 * Registers the files, or refreshes entries whose file moved with a new release. Writes nothing if all is current, so
 * that a read-only home can be served.
 */
export async function registerBuiltin(
  registry: Registry,
  models: readonly BuiltinModel[],
): Promise<readonly InstalledModel[]> {
  const installed: InstalledModel[] = [];
  for (const model of models)
    installed.push((await upToDate(registry, model)) ?? (await register(registry, model)));
  return installed;
}

async function register(registry: Registry, model: BuiltinModel): Promise<InstalledModel> {
  return installCandidate(
    registry,
    {
      id: model.id,
      aliases: model.aliases ?? [],
      source: { type: 'builtin', ref: model.path },
      ownedBy: 'hearth',
      params: {},
      files: [{ path: model.path }],
    },
    {},
  );
}

async function upToDate(registry: Registry, model: BuiltinModel): Promise<InstalledModel | undefined> {
  const known = (await registry.list()).find((entry) => entry.id === model.id);
  const [file] = known?.files ?? [];
  if (!known || !file || isBlobFile(file) || known.source.ref !== model.path) return undefined;
  return sameStamp(await stampFile(model.path), file) ? known : undefined;
}
