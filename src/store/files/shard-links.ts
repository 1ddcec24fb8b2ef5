/**
 * Own shards under their real names: native code finds the parts of a split model by name, and blobs have none. Each
 * name is a hard link to its blob, in a folder for this combination of parts.
 */
import { link, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoCode, temporaryName, writeFailure } from '../../lib/files/durable.ts';
import { blobDigests, isBlobFile, type ModelFile, type ModelManifest, modelFiles } from './manifest.ts';
import { filePath, type StorePaths, splitFolder } from './paths.ts';
import { rename } from '../../lib/files/busy.ts';

export function loadPath(paths: StorePaths, model: ModelManifest, file: ModelFile): string {
  if (!isBlobFile(file) || file.name === undefined) return filePath(paths, file);
  return join(splitFolder(paths, blobDigests(model)), file.name);
}

export async function readyLoadPath(
  paths: StorePaths,
  model: ModelManifest,
  file: ModelFile,
): Promise<string> {
  const path = loadPath(paths, model, file);
  if (path !== filePath(paths, file)) await ensureLink(filePath(paths, file), path);
  return path;
}

export async function linkShards(paths: StorePaths, model: ModelManifest): Promise<void> {
  for (const file of modelFiles(model)) await readyLoadPath(paths, model, file);
}

/** Needs the writer lock. */
export async function dropUnusedLinks(paths: StorePaths, models: readonly ModelManifest[]): Promise<void> {
  const used = new Set(models.map((model) => basename(splitFolder(paths, blobDigests(model)))));
  for (const name of await readdir(paths.split))
    if (!used.has(name)) await rm(join(paths.split, name), { recursive: true, force: true });
}

async function ensureLink(blob: string, name: string): Promise<void> {
  const temporary = join(dirname(name), temporaryName(basename(name)));
  try {
    if (await isSameFile(blob, name)) return;
    await mkdir(dirname(name), { recursive: true, mode: 0o700 });
    await link(blob, temporary);
    await rename(temporary, name);
  } catch (error) {
    throw writeFailure(name, error);
  } finally {
    // A rename does nothing, and leaves it, if another process made the same link in the meantime.
    await rm(temporary, { force: true });
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  try {
    const [a, b] = [await lstat(one, { bigint: true }), await lstat(other, { bigint: true })];
    return a.dev === b.dev && a.ino === b.ino;
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false;
    throw error;
  }
}
