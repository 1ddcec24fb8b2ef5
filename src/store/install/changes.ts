/** Changes of the installed models. Each runs alone under the writer lock and decides on the state that it finds. */
import { Type } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { fail } from '../../lib/errors/svc-error.ts';
import { stampFile, unusable } from '../../lib/files/plain-file.ts';
import { MODEL_ROWS } from '../../contract/sampling-shapes.ts';
import { findFault, whyNotFor } from '../../contract/settings/check-settings.ts';
import type { ModelKind } from '../../contract/load.ts';
import { pickSettings } from '../../contract/settings/shapes.ts';
import { checkAttachments } from './attachments.ts';
import { checkTexts } from './setting-texts.ts';
import { paramNames } from '../registry/param-names.ts';
import { PARAM_ROWS } from '../registry/param-rows.ts';
import { readFormer } from '../files/former.ts';
import { lookUp } from '../files/installed.ts';
import { blobDigests, isBlobFile, type ModelManifest, ModelParams } from '../files/manifest.ts';
import { checkModelId, isAlias } from '../files/model-id.ts';
import { blobPath } from '../files/paths.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';
import { linkShards } from '../files/shard-links.ts';
import type { StoreWriter, SweepResult } from '../files/store.ts';

export interface PendingBlob {
  readonly from: string;
  readonly digest: string;
}

/** Order: blobs, the manifest that names them, removal of what a predecessor leaves unused. */
export async function commitModel(
  registry: Registry,
  purpose: string,
  manifest: ModelManifest,
  blobs: readonly PendingBlob[] = [],
): Promise<InstalledModel> {
  return registry.store.change(purpose, async (writer) => {
    const { manifests } = await writer.installed();
    const previous = checkFree(manifests, manifest);
    for (const blob of blobs) await writer.adoptBlob(blob.from, blob.digest);
    const aliases = [...manifest.aliases, ...(previous?.aliases ?? [])];
    const next = {
      ...manifest,
      aliases: freeAliases(manifests, { ...manifest, aliases }),
      params: { ...manifest.params, ...previous?.params },
      addedAt: previous && sameBytes(manifest, previous) ? previous.addedAt : manifest.addedAt,
    };
    await requireBlobs(writer, next);
    await linkShards(writer.paths, next);
    await writer.putManifest(next);
    if (previous) await writer.sweepBlobs(blobDigests(previous));
    return next;
  });
}

export interface Removal {
  readonly removed: 'model' | 'alias';
  readonly id: string;
  readonly sweep: SweepResult;
}

export async function removeModel(registry: Registry, name: string): Promise<Removal> {
  return registry.store.change(`hearth rm ${name}`, async (writer) => {
    const found = lookUp(await writer.installed(), name);
    if (!found) throw fail('model_not_found', { model: name, param: 'model' });
    if ('damaged' in found) {
      await writer.dropFile(found.damaged.path);
      return { removed: 'model', id: found.damaged.id, sweep: nothingSwept };
    }
    const { matched, model } = found;
    const lower = matched.toLowerCase();
    // The original spelling is kept as an alias, but it means the model itself.
    if (lower === model.id) {
      const former = (await readFormer(writer.paths)).filter((state) => state.model.id === model.id);
      await writer.dropManifest(model.id);
      const digests = [model, ...former.map((state) => state.model)].flatMap(blobDigests);
      return { removed: 'model', id: model.id, sweep: await writer.sweepBlobs([...new Set(digests)]) };
    }
    const aliases = model.aliases.filter((alias) => alias.toLowerCase() !== lower);
    await writer.putManifest({ ...model, aliases });
    return { removed: 'alias', id: matched, sweep: nothingSwept };
  });
}

export async function addAlias(registry: Registry, name: string, alias: string): Promise<InstalledModel> {
  checkModelId(alias.toLowerCase());
  const { id } = await registry.find(name);
  return registry.store.change(`hearth alias ${alias} ${id}`, async (writer) => {
    const { all, model } = await reread(writer, id);
    refuseTakenName(all, alias, id);
    const next = { ...model, aliases: [...new Set([...model.aliases, alias])] };
    await writer.putManifest(next);
    return next;
  });
}

/** Installs the same files under another id with separate settings; copies no bytes. */
export async function copyModel(registry: Registry, name: string, copyName: string): Promise<InstalledModel> {
  const copyId = copyName.toLowerCase();
  checkModelId(copyId);
  const { id } = await registry.find(name);
  return registry.store.change(`hearth cp ${id} ${copyId}`, async (writer) => {
    const { all, model } = await reread(writer, id);
    refuseTakenName(all, copyId, NO_MODEL);
    const copy = { ...model, id: copyId, addedAt: justBefore(model.addedAt) };
    const next = { ...copy, aliases: freeAliases(all, { ...copy, aliases: [copyName] }) };
    await writer.putManifest(next);
    return next;
  });
}

const NO_MODEL = '';

/** The newest model is the default, and a copy must not replace its original there. */
const justBefore = (time: string): string => new Date(Date.parse(time) - 1).toISOString();

export type ParamsPatch = { readonly [Key in keyof ModelParams]?: ModelParams[Key] | null };

/** A null member removes that default. `tryOut` gets the changed model, and throws if it does not work. */
export async function setParams(
  registry: Registry,
  name: string,
  patch: ParamsPatch,
  tryOut: (next: InstalledModel) => Promise<void> = async () => {},
): Promise<InstalledModel> {
  const found = await registry.served(name);
  const { id } = found;
  checkKind(patch, found.kind);
  checkRequestRanges(patch);
  const attachments = await checkAttachments(registry, found, patch);
  checkTexts(patch);
  await tryOut({ ...found, params: patched(found.params, patch) });
  return registry.store.change(`hearth set ${id}`, async (writer) => {
    const { model } = await reread(writer, id);
    const merged: unknown = patched(model.params, { ...patch, ...attachments });
    if (!Check(ModelParams, merged)) {
      const [first] = Errors(ModelParams, merged);
      const member = first?.instancePath.split('/')[1] ?? Object.keys(patch).join(', ');
      const param = PUBLIC_NAMES[member] ?? member;
      throw fail('invalid_request', { param, message: `${param} ${inWords(first?.message)}.` });
    }
    const fault = findFault(pickSettings(merged), found.kind);
    if (fault !== null)
      throw fail('invalid_request', { param: fault.wire, message: `${fault.wire} ${fault.reason}.` });
    const next = { ...model, params: merged };
    await writer.putManifest(next);
    return next;
  });
}

function patched(params: ModelParams, patch: ParamsPatch): ModelParams {
  return Object.fromEntries(
    Object.entries({ ...params, ...patch }).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** Settings of answers do not apply to embedding models, nor those of vectors to chat models. */
function checkKind(patch: ParamsPatch, kind: ModelKind): void {
  for (const { name, models } of PARAM_ROWS) {
    const reason = whyNotFor(models, kind);
    const value = patch[paramNames[name] as keyof ModelParams];
    if (reason !== null && value !== undefined && value !== null)
      throw fail('invalid_request', { param: name, message: `${name} ${reason}.` });
  }
}

/** A default must be valid in a request; manifests from before a range was narrowed stay valid. */
function checkRequestRanges(patch: ParamsPatch): void {
  for (const [option, { wire, request }] of MODEL_ROWS) {
    const value = patch[option];
    if (value === undefined || value === null || request === undefined) continue;
    const [first] = Errors(Type.Unsafe(request), value);
    if (first !== undefined)
      throw fail('invalid_request', { param: wire, message: `${wire} ${inWords(first.message)}.` });
  }
}

const PUBLIC_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(paramNames).map(([name, member]) => [member, name]),
);

const inWords = (rule = 'is not usable'): string =>
  rule
    .replace('must be integer', 'must be a whole number')
    .replace('must be number', 'must be a number')
    .replace('must be >= ', 'must be at least ')
    .replace('must be <= ', 'must be at most ');

export async function refreshFiles(
  registry: Registry,
  seen: InstalledModel,
  files: InstalledModel['files'],
): Promise<void> {
  await registry.store.change(`hearth verify ${seen.id}`, async (writer) => {
    const { model } = await reread(writer, seen.id);
    if (JSON.stringify(model.files) === JSON.stringify(seen.files))
      await writer.putManifest({ ...model, files });
  });
}

const nothingSwept: SweepResult = { freedBytes: 0, removed: [], blockedBy: [] };

function checkFree(
  manifests: readonly InstalledModel[],
  manifest: ModelManifest,
): InstalledModel | undefined {
  const previous = manifests.find((entry) => entry.id === manifest.id);
  if (previous && !isSuccessor(manifest, previous))
    throw fail('model_exists', { model: manifest.id, param: 'id', reason: `from ${previous.source.ref}` });
  refuseTakenName(
    manifests.filter((entry) => entry.id !== manifest.id),
    manifest.id,
    manifest.id,
  );
  return previous;
}

/** A blob that existed when the pull began may have been removed with another model since. */
export async function requireBlobs(writer: StoreWriter, manifest: ModelManifest): Promise<void> {
  for (const file of manifest.files.filter(isBlobFile)) {
    const path = blobPath(writer.paths, file.digest);
    const { sizeBytes } = await stampFile(path).catch(() => ({ sizeBytes: -1 }));
    if (sizeBytes !== file.sizeBytes)
      throw unusable(path, 'another process removed it in the meantime; run the command again');
  }
}

function isSuccessor(next: ModelManifest, previous: InstalledModel): boolean {
  if (next.source.type !== previous.source.type) return false;
  if (next.source.type === 'builtin') return true;
  if (next.source.type === 'hf' && next.source.repo !== undefined)
    return next.source.repo === previous.source.repo;
  return next.source.ref === previous.source.ref || sameBytes(next, previous);
}

function sameBytes(one: ModelManifest, other: ModelManifest): boolean {
  const digests = (model: ModelManifest) =>
    model.files.map((file) => (isBlobFile(file) ? file.digest : file.sha256));
  const wanted = digests(one);
  return wanted.every((digest, position) => digest !== undefined && digest === digests(other)[position]);
}

function refuseTakenName(all: readonly InstalledModel[], name: string, ownId: string): void {
  const lower = name.toLowerCase();
  const owner = all.find(
    (entry) => entry.id === lower || entry.aliases.some((alias) => alias.toLowerCase() === lower),
  );
  if (owner && owner.id !== ownId)
    throw fail('name_taken', { name, model: owner.id, isAlias: owner.id !== lower, param: 'id' });
}

/** Aliases that another model has are left out, instead of failing the installation. */
export function freeAliases(manifests: readonly InstalledModel[], manifest: ModelManifest): string[] {
  const others = manifests.filter((entry) => entry.id !== manifest.id);
  const taken = new Set(
    others.flatMap((entry) => [entry.id, ...entry.aliases]).map((name) => name.toLowerCase()),
  );
  return [...new Set(manifest.aliases)].filter(
    (alias) => isAlias(alias) && alias !== manifest.id && !taken.has(alias.toLowerCase()),
  );
}

export async function reread(
  writer: StoreWriter,
  id: string,
): Promise<{ all: readonly InstalledModel[]; model: InstalledModel }> {
  const { manifests: all } = await writer.installed();
  const model = all.find((entry) => entry.id === id);
  if (!model) throw fail('model_not_found', { model: id, param: 'model' });
  return { all, model };
}

export interface PruneResult {
  readonly freedBytes: number;
  readonly removedBlobs: readonly string[];
  readonly blockedBy: readonly string[];
}

/** Removes blobs that no manifest names, unfinished downloads, and unused shard links. */
export async function prune(registry: Registry): Promise<PruneResult> {
  return registry.store.change('hearth prune', async (writer) => {
    const partialBytes = await writer.dropPartials();
    const { freedBytes, removed, blockedBy } = await writer.sweepBlobs();
    return { freedBytes: partialBytes + freedBytes, removedBlobs: removed, blockedBy };
  });
}
