/** Applies and rolls back upgrades: each is one change under the writer lock, which its last step makes effective. */
import { fail } from '../../lib/errors/svc-error.ts';
import { readText } from '../../lib/files/plain-file.ts';
import { type FormerState, MOST_FORMER, readFormer } from '../files/former.ts';
import { blobDigests, type ServedManifest } from '../files/manifest.ts';
import { linkShards } from '../files/shard-links.ts';
import type { StoreWriter } from '../files/store.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';
import { freeAliases, requireBlobs, reread } from './changes.ts';

export type Present = Pick<FormerState, 'at' | 'change' | 'library'>;

export function makeSuccessor(model: ServedManifest, next: ServedManifest): ServedManifest {
  const { id, aliases, params, addedAt } = model;
  return { ...next, id, aliases, addedAt, params: { ...next.params, ...params } };
}

export async function keepState(registry: Registry, id: string, present: Present): Promise<void> {
  await registry.store.change(`hearth upgrade ${id}`, async (writer) => {
    const { model } = await reread(writer, id);
    await pushState(writer, model, present);
  });
}

/** Both models must be unchanged since they were compared. */
export async function takeFiles(
  registry: Registry,
  { model, next }: { readonly model: ServedManifest; readonly next: ServedManifest },
  present: Present,
): Promise<void> {
  await registry.store.change(`hearth upgrade ${model.id}`, async (writer) => {
    for (const seen of [model, next]) {
      const now = (await reread(writer, seen.id)).model;
      if (!isAlike(now, seen)) throw fail('model_changed', { model: seen.id, param: 'model' });
    }
    if (sharesFiles(model, next)) return;
    const successor = makeSuccessor(model, next);
    await pushState(writer, model, present);
    await linkShards(writer.paths, successor);
    await writer.putManifest(successor);
  });
}

export const sharesFiles = (one: InstalledModel, other: InstalledModel): boolean =>
  JSON.stringify(one.files) === JSON.stringify(other.files);

export const isAlike = (one: InstalledModel, other: InstalledModel): boolean =>
  JSON.stringify([one.files, one.params]) === JSON.stringify([other.files, other.params]);

/** Removes the states that no longer fit, unless another entry names them. */
async function pushState(writer: StoreWriter, model: InstalledModel, present: Present): Promise<void> {
  const defaults = await readText(writer.paths.defaults);
  const states = [...(await readFormer(writer.paths)), { ...present, defaults, model }];
  await writer.writeFormer(states);
  const gone = states.slice(0, -MOST_FORMER);
  if (gone.length > 0) await writer.sweepBlobs(gone.flatMap((state) => blobDigests(state.model)));
}

export async function restoreState(registry: Registry, state: FormerState): Promise<void> {
  await registry.store.change('hearth rollback', async (writer) => {
    const states = await readFormer(writer.paths);
    const at = states.findLastIndex((each) => isSame(each, state));
    if (at < 0) throw fail('model_changed', { model: state.model.id, param: 'model' });
    const { manifests } = await writer.installed();
    const present = manifests.filter(({ id }) => id === state.model.id);
    if (present.length > 0) await putBack(writer, manifests, state.model);
    if (state.defaults !== null) await writer.writeDefaults(state.defaults);
    else await writer.dropFile(writer.paths.defaults);
    await writer.writeFormer(states.slice(0, at));
    await writer.sweepBlobs([...present, ...states.slice(at).map((each) => each.model)].flatMap(blobDigests));
  });
}

async function putBack(
  writer: StoreWriter,
  installed: readonly InstalledModel[],
  former: InstalledModel,
): Promise<void> {
  const model = { ...former, aliases: freeAliases(installed, former) };
  await requireBlobs(writer, model);
  await linkShards(writer.paths, model);
  await writer.putManifest(model);
}

/** Also removes the weights that only they named; returns the bytes freed. */
export async function forgetStates(registry: Registry): Promise<number> {
  return registry.store.change('hearth rollback --forget', async (writer) => {
    const states = await readFormer(writer.paths);
    await writer.writeFormer([]);
    return (await writer.sweepBlobs(states.flatMap((state) => blobDigests(state.model)))).freedBytes;
  });
}

const isSame = (one: FormerState, other: FormerState): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
