import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, link, open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { PendingBlob } from './changes.ts';
import { requireSpace } from '../../lib/files/disk-space.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { errnoCode, temporaryName, writeAll, writeFailure } from '../../lib/files/durable.ts';
import {
  type FileStamp,
  hashFile,
  openPlainFile,
  sameStamp,
  stampFile,
  unusable,
} from '../../lib/files/plain-file.ts';
import type { OnInstallEvent } from './install-event.ts';
import { blobStamp, type ModelFile, referenceStamp } from '../files/manifest.ts';
import type { Registry } from '../registry/registry.ts';

export interface CheckedFile {
  readonly path: string;
  readonly realPath: string;
  /** For native code, which finds a shard by its sibling's name: a link to another folder may not keep that name. */
  readonly loadPath: string;
  readonly stamp: FileStamp;
  readonly statedSha256?: string;
  readonly role: 'model' | 'mmproj';
}

export interface PlaceOptions {
  readonly copy?: boolean;
  readonly hardLink?: boolean;
  readonly onEvent?: OnInstallEvent;
  readonly signal?: AbortSignal;
}

export interface PlacedFiles {
  readonly files: ModelFile[];
  readonly blobs: PendingBlob[];
}

export async function placeFiles(
  registry: Registry,
  files: readonly CheckedFile[],
  options: PlaceOptions,
): Promise<PlacedFiles> {
  if (!options.copy && !options.hardLink) return { files: await referenceAll(files, options), blobs: [] };
  await registry.store.prepareFolders();
  if (options.copy) await requireSpace(registry.store.paths.partial, totalBytes(files));
  const placed: PlacedFiles = { files: [], blobs: [] };
  try {
    const isSplit = files.filter(({ role }) => role === 'model').length > 1;
    for (const file of files)
      await placeOne(registry, file, isSplit && file.role === 'model', options, placed);
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
  options: PlaceOptions,
  placed: PlacedFiles,
): Promise<void> {
  const temporary = join(registry.store.paths.partial, temporaryName(basename(file.path)));
  let digest: string;
  try {
    await registry.store.step('copy.started');
    digest = options.hardLink
      ? await hash(await linkInto(file, temporary), options)
      : await copyInto(registry, file, temporary, options);
    requireStated(file, digest);
    await registry.store.step('copy.done');
    const stamp = await stampFile(temporary);
    placed.blobs.push({ from: temporary, digest });
    placed.files.push({
      role: file.role,
      digest,
      ...blobStamp(stamp),
      ...(isShard ? { name: basename(file.path) } : {}),
      ...(options.hardLink ? { linked: true } : {}),
    });
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Copied bytes must have the digest that the foreign store states, because that statement is lost here. */
function requireStated({ path, statedSha256: expected }: CheckedFile, actual: string): void {
  if (expected !== undefined && expected !== actual)
    throw fail('digest_mismatch', { path, param: path, expected, actual });
}

/** Makes the linked file as private as every blob, under its other name too. */
async function linkInto(file: CheckedFile, target: string): Promise<CheckedFile> {
  try {
    await link(file.realPath, target);
    await chmod(target, 0o600);
  } catch (error) {
    const code = errnoCode(error);
    if (code === 'EXDEV')
      throw unusable(file.path, 'it is on another file system, so it cannot be hard-linked; use --copy');
    if (code === 'EPERM')
      throw unusable(file.path, 'it belongs to another user, so it cannot be hard-linked; use --copy');
    throw writeFailure(target, error);
  }
  const stamp = await stampFile(target);
  if (!sameStamp(stamp, blobStamp(file.stamp))) throw unusable(file.path, 'it changed while being read');
  return { ...file, stamp };
}

async function referenceAll(files: readonly CheckedFile[], options: PlaceOptions): Promise<ModelFile[]> {
  const references: ModelFile[] = [];
  for (const file of files) {
    const sha256 = file.statedSha256 ?? (await hash(file, options));
    const digestOrigin = file.statedSha256 === undefined ? 'computed' : 'stated';
    references.push({
      role: file.role,
      path: file.loadPath,
      ...referenceStamp(file.stamp),
      sha256,
      digestOrigin,
    });
  }
  return references;
}

async function hash(file: CheckedFile, options: PlaceOptions): Promise<string> {
  const digest = await hashFile(file.realPath, {
    ...(options.signal ? { signal: options.signal } : {}),
    onBytes: (completed) =>
      options.onEvent?.({ status: 'verifying', file: file.path, total: file.stamp.sizeBytes, completed }),
  });
  if (!sameStamp(await stampFile(file.realPath), file.stamp))
    throw unusable(file.path, 'it changed while being read');
  return digest;
}

async function copyInto(
  registry: Registry,
  file: CheckedFile,
  target: string,
  options: PlaceOptions,
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
  options: PlaceOptions,
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
      if (bytesRead === 0) throw unusable(file.path, 'it changed while being read');
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

export function totalBytes(files: readonly CheckedFile[]): number {
  return files.reduce((sum, file) => sum + file.stamp.sizeBytes, 0);
}
