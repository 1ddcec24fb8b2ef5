/** Changes of what is installed. Each runs alone under the writer lock and decides on what it finds there. */
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

/** A blob that is complete under a temporary name and goes to its final one with the manifest. */
export interface PendingBlob {
  readonly from: string;
  readonly digest: string;
}

/** Commits a model: its blobs first, then the manifest that names them, then what a predecessor leaves unused. */
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
    // A successor keeps its predecessor's user settings.
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
  /** The id or alias that is gone, which the given name may only resemble. */
  readonly id: string;
  readonly sweep: SweepResult;
}

/** Removes what the name means: a model, or only the alias when it is one. Files that we do not own stay where they are. */
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

/** Lets a second name stand for an installed model; no bytes are copied. */
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

/** Installs the files of a model once more, under another id and with settings of its own; no bytes are copied. */
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

/** No id is empty. */
const NO_MODEL = '';

/** The newest model is the default; a copy must not take that from its original. */
const justBefore = (time: string): string => new Date(Date.parse(time) - 1).toISOString();

export type ParamsPatch = { readonly [Key in keyof ModelParams]?: ModelParams[Key] | null };

/**
 * Changes defaults of one model; a member that is null goes back to the default of the service. `tryOut` gets the model as
 * it would be, and throws what keeps it from being so.
 */
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

/** Settings of answers are nothing to a model that gives none, nor those of vectors to one that chats. */
function checkKind(patch: ParamsPatch, kind: ModelKind): void {
  for (const { name, models } of PARAM_ROWS) {
    const reason = whyNotFor(models, kind);
    const value = patch[paramNames[name] as keyof ModelParams];
    if (reason !== null && value !== undefined && value !== null)
      throw fail('invalid_request', { param: name, message: `${name} ${reason}.` });
  }
}

/** A value that no request may have cannot be a default; manifests from before a range was narrowed stay valid. */
function checkRequestRanges(patch: ParamsPatch): void {
  for (const [option, { wire, request }] of MODEL_ROWS) {
    const value = patch[option];
    if (value === undefined || value === null || request === undefined) continue;
    const [first] = Errors(Type.Unsafe(request), value);
    if (first !== undefined)
      throw fail('invalid_request', { param: wire, message: `${wire} ${inWords(first.message)}.` });
  }
}

/** Members of ModelParams as people spell them. */
const PUBLIC_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(paramNames).map(([name, member]) => [member, name]),
);

const inWords = (rule = 'is not usable'): string =>
  rule
    .replace('must be integer', 'must be a whole number')
    .replace('must be number', 'must be a number')
    .replace('must be >= ', 'must be at least ')
    .replace('must be <= ', 'must be at most ');

/** Replaces facts of the files of a model, if it is still the one that was looked at. */
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

/** The model that the new manifest replaces, if any; throws when its id means something else already. */
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

/** A blob that was there when the pull began may have been removed with another model since. */
export async function requireBlobs(writer: StoreWriter, manifest: ModelManifest): Promise<void> {
  for (const file of manifest.files.filter(isBlobFile)) {
    const path = blobPath(writer.paths, file.digest);
    const { sizeBytes } = await stampFile(path).catch(() => ({ sizeBytes: -1 }));
    if (sizeBytes !== file.sizeBytes)
      throw unusable(path, 'another process removed it in the meantime; run the command again');
  }
}

/** True for the same thing installed again: same repository, same file, or a built-in model of another release. */
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

/** Aliases are a courtesy: those that another model has already are left out instead of failing the install. */
export function freeAliases(manifests: readonly InstalledModel[], manifest: ModelManifest): string[] {
  const others = manifests.filter((entry) => entry.id !== manifest.id);
  const taken = new Set(
    others.flatMap((entry) => [entry.id, ...entry.aliases]).map((name) => name.toLowerCase()),
  );
  return [...new Set(manifest.aliases)].filter(
    (alias) => isAlias(alias) && alias !== manifest.id && !taken.has(alias.toLowerCase()),
  );
}

/** The present model, under the writer lock. */
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
  /** Ids of damaged manifests because of which no blob was removed. */
  readonly blockedBy: readonly string[];
}

/** Frees what nothing needs: blobs that no manifest names, unfinished downloads, shard links without a model. */
export async function prune(registry: Registry): Promise<PruneResult> {
  return registry.store.change('hearth prune', async (writer) => {
    const partialBytes = await writer.dropPartials();
    const { freedBytes, removed, blockedBy } = await writer.sweepBlobs();
    return { freedBytes: partialBytes + freedBytes, removedBlobs: removed, blockedBy };
  });
}
