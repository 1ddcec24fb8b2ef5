/** The model for a replay: an installed one with the same bytes, or the named file. */
import { basename, dirname, join } from 'node:path';
import { fail, isSvcError, type SvcError } from '../../../lib/errors/svc-error.ts';
import { type ModelFiles, shardDigests } from '../../../trust/evidence/compare.ts';
import type { Predicate } from '../../../trust/evidence/statement.ts';
import { hashFile } from '../../../lib/files/plain-file.ts';
import { inspectModel } from '../../../store/install/inspection.ts';
import {
  knownDigest,
  isBlobFile,
  type ModelFile,
  type ModelManifest,
  modelFiles,
} from '../../../store/files/manifest.ts';
import { filePath } from '../../../store/files/paths.ts';
import { openRegistry, type Registry } from '../../../store/registry/registry.ts';
import { parseShardName, shardNames } from '../../../store/install/shards.ts';
import type { Machine } from './machine.ts';
import type { ReplayModel } from './replay.ts';

type NamedModel = Pick<Predicate, 'model'>;

/** Null when no such model is installed. Hashes are recomputed; the registry is not trusted. */
export async function findModel(
  machine: Pick<Machine, 'home' | 'offerModel'>,
  claimed: NamedModel,
  path: string | undefined,
): Promise<ReplayModel | null> {
  try {
    if (path !== undefined)
      return await namedModel(path, await templatesHere(openRegistry({ home: machine.home })));
    await machine.offerModel?.(claimed.model.id);
    return await installedModel(machine, claimed);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    throw fail('record_not_comparable', { reason: error.message }, error);
  }
}

/** The file passes the same checks as an installation before native code opens it. */
async function namedModel(path: string, templates: readonly string[]): Promise<ReplayModel> {
  const split = parseShardName(basename(path));
  const paths = split === null ? [path] : shardNames(split).map((name) => join(dirname(path), name));
  const { kind } = await inspectModel(paths);
  if (kind === 'adapter') throw fail('gguf_invalid', { path, reason: 'it is a LoRA adapter, not a model' });
  const [first = '', ...parts] = await Promise.all(paths.map((file) => hashFile(file)));
  return { path, files: recordedFiles(first, parts), defaultStop: [], templates };
}

async function installedModel(
  machine: Pick<Machine, 'home'>,
  claimed: NamedModel,
): Promise<ReplayModel | null> {
  const registry = openRegistry({ home: machine.home });
  let closest: ReplayModel | null = null;
  let unreadable: SvcError | null = null;
  for (const model of await registry.list()) {
    try {
      const found = await readCandidate(registry, model, claimed);
      if (found !== null && shardDigests(found.files) === shardDigests(claimed.model)) return found;
      closest ??= found;
    } catch (error) {
      if (!isSvcError(error)) throw error;
      // The same bytes may be installed under another name, so this is thrown only if they are not.
      unreadable ??= error;
    }
  }
  if (closest === null && unreadable !== null) throw unreadable;
  return closest;
}

async function readCandidate(
  registry: Registry,
  model: ModelManifest,
  claimed: NamedModel,
): Promise<ReplayModel | null> {
  const hash = (file: ModelFile): Promise<string> => hashFile(filePath(registry.store.paths, file));
  const [first, ...parts] = modelFiles(model);
  if (first === undefined || first.sizeBytes !== claimed.model.size) return null;
  const known = knownDigest(first);
  if (known !== null && isBlobFile(first) && known !== claimed.model.blob_sha256) return null;
  const sha256 = await hash(first);
  if (sha256 !== claimed.model.blob_sha256) return null;
  const files = recordedFiles(sha256, await Promise.all(parts.map(hash)));
  const { source } = registry.toTarget(model);
  // Native code opens parts by name, so their names must lead to the hashed bytes.
  await source.verify();
  const { stop = [], template } = model.params;
  const own = template === undefined ? [] : [template];
  return {
    path: source.path,
    files,
    defaultStop: stop,
    templates: [...own, ...(await templatesHere(registry))],
  };
}

async function templatesHere(registry: Registry): Promise<string[]> {
  return (await registry.list()).flatMap(({ params }) => params.template ?? []);
}

const recordedFiles = (first: string, parts: readonly string[]): ModelFiles => ({
  blob_sha256: first,
  shards: parts.map((sha256) => ({ sha256 })),
});
