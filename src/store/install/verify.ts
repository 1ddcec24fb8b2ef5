import { isFailure, isSvcError } from '../../lib/errors/svc-error.ts';
import { refreshFiles } from './changes.ts';
import { type FileStamp, hashFile, stampFile } from '../../lib/files/plain-file.ts';
import type { OnInstallEvent } from './install-event.ts';
import { blobStamp, knownDigest, isBlobFile, type ModelFile, referenceStamp } from '../files/manifest.ts';
import { filePath } from '../files/paths.ts';
import type { InstalledModel, Registry } from '../registry/registry.ts';
import { readyLoadPath } from '../files/shard-links.ts';

export interface FileVerdict {
  readonly path: string;
  /** `recorded`: no digest was known, and the computed one is now stored. */
  readonly state: 'ok' | 'recorded' | 'damaged' | 'missing';
  readonly expected: string | null;
  readonly actual: string | null;
  readonly reason: string | null;
}

export interface VerifyResult {
  readonly id: string;
  readonly ok: boolean;
  readonly files: readonly FileVerdict[];
}

export async function verifyModel(
  registry: Registry,
  name: string,
  options: { readonly onEvent?: OnInstallEvent; readonly signal?: AbortSignal } = {},
): Promise<VerifyResult> {
  const model = await registry.find(name);
  const verdicts: FileVerdict[] = [];
  const files: ModelFile[] = [];
  for (const file of model.files) {
    const { verdict, refreshed } = await verifyOne(registry, model, file, options);
    verdicts.push(verdict);
    files.push(refreshed);
  }
  const ok = verdicts.every((verdict) => verdict.state === 'ok' || verdict.state === 'recorded');
  if (ok) await keepFindings(registry, model, files);
  return { id: model.id, ok, files: verdicts };
}

async function verifyOne(
  registry: Registry,
  model: InstalledModel,
  file: ModelFile,
  options: { readonly onEvent?: OnInstallEvent; readonly signal?: AbortSignal },
): Promise<{ verdict: FileVerdict; refreshed: ModelFile }> {
  const { paths } = registry.store;
  const path = filePath(paths, file);
  const expected = knownDigest(file);
  let stamp: FileStamp;
  let actual: string;
  try {
    stamp = await stampFile(path);
    actual = await hashFile(await readyLoadPath(paths, model, file), {
      ...(options.signal ? { signal: options.signal } : {}),
      onBytes: (completed) =>
        options.onEvent?.({ status: 'verifying', file: path, total: stamp.sizeBytes, completed }),
    });
  } catch (error) {
    if (!isSvcError(error)) throw error;
    const state = error.code === 'file_not_found' ? 'missing' : 'damaged';
    return { verdict: { path, state, expected, actual: null, reason: error.message }, refreshed: file };
  }
  if (expected !== null && actual !== expected) {
    return {
      verdict: { path, state: 'damaged', expected, actual, reason: 'its SHA-256 is not the one installed' },
      refreshed: file,
    };
  }
  const state = expected === null ? 'recorded' : 'ok';
  return {
    verdict: { path, state, expected, actual, reason: null },
    refreshed: withFindings(file, stamp, actual),
  };
}

function withFindings(file: ModelFile, stamp: FileStamp, sha256: string): ModelFile {
  if (isBlobFile(file)) return { ...file, ...blobStamp(stamp) };
  const { ctimeNs: _, ...known } = file;
  return { ...known, ...referenceStamp(stamp), sha256, digestOrigin: 'computed' };
}

/** Stores the new stamp of a touched file, so that it loads without hashing. In a read-only store it still loads. */
async function keepFindings(registry: Registry, model: InstalledModel, files: ModelFile[]): Promise<void> {
  if (JSON.stringify(files) === JSON.stringify(model.files)) return;
  await refreshFiles(registry, model, files).catch((error: unknown) => {
    if (!isFailure(error, 'store_unwritable')) throw error;
  });
}
