/**
 * Local files become models: by reference (the default, no byte is copied), by copy, or by hard link.
 * Order: plain file → gate → width → digest → probe → commit; nothing is written before the last.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, open, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fail } from '../errors/svc-error.ts';
import { commitModel, type PendingBlob } from './changes.ts';
import { requireSpace } from './disk-space.ts';
import { errnoOf, temporaryName, writeAll, writeFailure } from './durable.ts';
import {
  checkModelFile,
  type FileStamp,
  hashFile,
  openPlainFile,
  sameStamp,
  stampFile,
  unusable,
} from './file-check.ts';
import { type Inspect, type Inspection, inspectModel, type Probe, refuseOtherWidths } from './inspection.ts';
import type { OnInstallEvent } from './install-event.ts';
import type { ModelFile, ModelParams, ModelSource } from './manifest.ts';
import { checkModelId, toModelId } from './model-id.ts';
import type { InstalledModel, Registry } from './registry.ts';
import { modelStem, parseShardName, shardNames } from './shards.ts';

export interface ImportOptions {
  readonly id?: string;
  readonly copy?: boolean;
  readonly hardLink?: boolean;
  /** The GGUF gate unless a test puts another in its place. */
  readonly inspect?: Inspect;
  readonly probe?: Probe;
  readonly onEvent?: OnInstallEvent;
  readonly signal?: AbortSignal;
}

/** A model as a foreign store, or the user, presents it: everything in it is unchecked. */
export interface Candidate {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly source: ModelSource;
  readonly ownedBy: string;
  readonly params: ModelParams;
  readonly files: readonly CandidateFile[];
  /** A folder that the real files must lie in; absent when the user named the file. */
  readonly within?: string;
}

export interface CandidateFile {
  readonly role: ModelFile['role'];
  readonly path: string;
  /** What the foreign store says its digest is. */
  readonly statedSha256?: string;
}

interface CheckedFile extends CandidateFile {
  readonly realPath: string;
  readonly stamp: FileStamp;
}

/** Installs the file at `path`; for a split model any shard stands for all. */
export async function importFile(
  registry: Registry,
  path: string,
  options: ImportOptions,
): Promise<InstalledModel> {
  const files = shardPaths(resolve(path)).map((shard) => ({ role: 'model' as const, path: shard }));
  const stem = modelStem(basename(path));
  const id = options.id === undefined ? toModelId(stem) : checkModelId(options.id);
  if (id === null)
    throw fail('model_id_invalid', {
      id: stem,
      param: 'id',
      reason: 'no id can be made from the file name; give one with --id',
    });
  return installCandidate(
    registry,
    {
      id,
      aliases: options.id === undefined ? [stem] : [],
      source: { type: 'file', ref: resolve(path) },
      ownedBy: 'local',
      params: {},
      files,
    },
    options,
  );
}

/** Checks a candidate and installs it. */
export async function installCandidate(
  registry: Registry,
  candidate: Candidate,
  options: ImportOptions,
): Promise<InstalledModel> {
  const [first, ...rest] = await checkFiles(candidate);
  if (!first) throw unusable(candidate.source.ref, 'it has no file');
  options.onEvent?.({ status: 'inspecting', file: first.path });
  const inspection = await (options.inspect ?? inspectModel)(first.realPath);
  refuseOtherWidths(first.path, inspection);
  const stored = await placeFiles(registry, [first, ...rest], options);
  try {
    await probe(first, inspection, options);
    options.onEvent?.({ status: 'writing manifest', id: candidate.id });
    const model = await commitModel(
      registry,
      `hearth import ${candidate.id}`,
      {
        schema: 1,
        id: candidate.id,
        aliases: [...candidate.aliases],
        kind: inspection.kind,
        ownedBy: candidate.ownedBy,
        source: candidate.source,
        files: stored.files,
        facts: { ...inspection.facts, sizeBytes: total([first, ...rest]) },
        params: candidate.params,
        addedAt: new Date().toISOString(),
      },
      stored.blobs,
    );
    options.onEvent?.({ status: 'success', id: model.id });
    return model;
  } finally {
    for (const blob of stored.blobs) await rm(blob.from, { force: true });
  }
}

async function probe(file: CheckedFile, inspection: Inspection, options: ImportOptions): Promise<void> {
  options.signal?.throwIfAborted();
  if (!options.probe) return;
  options.onEvent?.({ status: 'probing', file: file.path });
  await options.probe({ path: file.realPath, kind: inspection.kind, facts: inspection.facts });
}

function shardPaths(path: string): string[] {
  const shard = parseShardName(basename(path));
  return shard ? shardNames(shard).map((name) => join(dirname(path), name)) : [path];
}

async function checkFiles(candidate: Candidate): Promise<CheckedFile[]> {
  const checked: CheckedFile[] = [];
  for (const file of candidate.files) {
    const { path: realPath, stamp } = await checkModelFile(file.path);
    if (candidate.within !== undefined && !isInside(candidate.within, realPath))
      throw unusable(file.path, 'it leads outside of the folder it was found in');
    // A shard is found by native code under its sibling's name, which a link to elsewhere may not keep.
    const shard = parseShardName(basename(file.path));
    checked.push({ ...file, realPath: shard ? resolve(file.path) : realPath, stamp });
  }
  return checked;
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function total(files: readonly CheckedFile[]): number {
  return files.reduce((sum, file) => sum + file.stamp.sizeBytes, 0);
}

interface PlacedFiles {
  readonly files: ModelFile[];
  readonly blobs: PendingBlob[];
}

async function placeFiles(
  registry: Registry,
  files: readonly CheckedFile[],
  options: ImportOptions,
): Promise<PlacedFiles> {
  if (!options.copy && !options.hardLink) return { files: await referenceAll(files, options), blobs: [] };
  await registry.store.prepareFolders();
  if (options.copy) await requireSpace(registry.store.paths.partial, total(files));
  const placed: PlacedFiles = { files: [], blobs: [] };
  try {
    for (const file of files) await placeOne(registry, file, files.length > 1, options, placed);
    return placed;
  } catch (error) {
    for (const blob of placed.blobs) await rm(blob.from, { force: true });
    throw error;
  }
}

async function placeOne(
  registry: Registry,
  file: CheckedFile,
  isShard: boolean,
  options: ImportOptions,
  placed: PlacedFiles,
): Promise<void> {
  const temporary = join(registry.store.paths.partial, temporaryName(basename(file.path)));
  let digest: string;
  try {
    await registry.store.step('copy.started');
    if (options.hardLink) await linkInto(file, temporary);
    digest = options.hardLink
      ? await hash(file, options)
      : await copyInto(registry, file, temporary, options);
    await registry.store.step('copy.done');
    const stamp = await stampFile(temporary);
    placed.blobs.push({ from: temporary, digest });
    placed.files.push({
      role: file.role,
      digest,
      ...stamp,
      ...(isShard ? { name: basename(file.path) } : {}),
    });
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function linkInto(file: CheckedFile, target: string): Promise<void> {
  try {
    await link(file.realPath, target);
  } catch (error) {
    if (errnoOf(error) === 'EXDEV')
      throw unusable(file.path, 'it lies on another file system, where hard links cannot reach; use --copy');
    throw writeFailure(target, error);
  }
}

async function referenceAll(files: readonly CheckedFile[], options: ImportOptions): Promise<ModelFile[]> {
  const references: ModelFile[] = [];
  for (const file of files) {
    const sha256 = file.statedSha256 ?? (await hash(file, options));
    const digestOrigin = file.statedSha256 === undefined ? 'computed' : 'stated';
    references.push({ role: file.role, path: file.realPath, ...file.stamp, sha256, digestOrigin });
  }
  return references;
}

async function hash(file: CheckedFile, options: ImportOptions): Promise<string> {
  const digest = await hashFile(file.realPath, {
    ...(options.signal ? { signal: options.signal } : {}),
    onBytes: (completed) =>
      options.onEvent?.({ status: 'verifying', file: file.path, total: file.stamp.sizeBytes, completed }),
  });
  if (!sameStamp(await stampFile(file.realPath), file.stamp))
    throw unusable(file.path, 'it changed while it was read');
  return digest;
}

/** Copies by sharing blocks where the file system can, else byte by byte; the copy is synced, its digest returned. */
async function copyInto(
  registry: Registry,
  file: CheckedFile,
  target: string,
  options: ImportOptions,
): Promise<string> {
  const flags = constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL;
  const shared = await copyFile(file.realPath, target, flags).then(
    () => true,
    () => false,
  );
  const digest = shared ? await hash(file, options) : await copyBytes(registry, file, target, options);
  const copy = await open(target, 'r+');
  try {
    await copy.chmod(0o600);
    await copy.sync();
  } catch (error) {
    throw writeFailure(target, error);
  } finally {
    await copy.close();
  }
  return digest;
}

const COPY_CHUNK_BYTES = 1024 * 1024;

async function copyBytes(
  registry: Registry,
  file: CheckedFile,
  target: string,
  options: ImportOptions,
): Promise<string> {
  const from = await openPlainFile(file.realPath);
  const to = await open(target, 'w', 0o600).catch((error: unknown) => {
    throw writeFailure(target, error);
  });
  const digest = createHash('sha256');
  const chunk = Buffer.allocUnsafe(COPY_CHUNK_BYTES);
  const size = file.stamp.sizeBytes;
  let completed = 0;
  try {
    while (completed < size) {
      options.signal?.throwIfAborted();
      const { bytesRead } = await from.file.read(
        chunk,
        0,
        Math.min(chunk.length, size - completed),
        completed,
      );
      if (bytesRead === 0) throw unusable(file.path, 'it changed while it was read');
      digest.update(chunk.subarray(0, bytesRead));
      await writeAll(to, chunk.subarray(0, bytesRead)).catch((error: unknown) => {
        throw writeFailure(target, error);
      });
      completed += bytesRead;
      await registry.store.step('copy.chunk');
      options.onEvent?.({ status: 'copying', file: file.path, total: size, completed });
    }
    return digest.digest('hex');
  } finally {
    await from.file.close();
    await to.close();
  }
}
