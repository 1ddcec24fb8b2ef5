import { join } from 'node:path';
import { fileSize } from '../../lib/files/durable.ts';
import { requireSpace } from '../../lib/files/disk-space.ts';
import { hashFile } from '../../lib/files/plain-file.ts';
import { blobPath, downloadPath } from '../files/paths.ts';
import type { InstallEvent } from '../install/install-event.ts';
import { type OwnerLock, takeLock } from '../lock/owner-lock.ts';
import type { Registry } from '../registry/registry.ts';
import { downloadFile } from './download.ts';
import { type HubAccess, requestHub, translate } from './hub-request.ts';
import { fileUrl, type RepositoryFile } from './repository.ts';
import { type RetryPolicy, withRetries } from './retry.ts';

export interface PullContext {
  readonly registry: Registry;
  readonly access: HubAccess;
  readonly ref: string;
  readonly retries: RetryPolicy;
  readonly signal: AbortSignal;
  readonly onEvent: (event: InstallEvent) => void;
}

export interface FilesToFetch {
  readonly repo: string;
  readonly commit: string;
  readonly files: readonly RepositoryFile[];
}

export interface FetchedFile {
  readonly path: string;
  readonly digest: string;
  readonly isPresent: boolean;
}

export async function withFileLocks<T>(
  pull: PullContext,
  files: readonly RepositoryFile[],
  use: () => Promise<T>,
): Promise<T> {
  const locks: OwnerLock[] = [];
  try {
    // Each once and always in the same order, so that two pulls that share files cannot deadlock.
    for (const key of [...new Set(files.map(partialKey))].sort()) locks.push(await lockFile(pull, key));
    return await use();
  } finally {
    for (const lock of locks) await lock.release();
  }
}

export async function fetchFiles(pull: PullContext, wanted: FilesToFetch): Promise<FetchedFile[]> {
  const { paths } = pull.registry.store;
  const missing: RepositoryFile[] = [];
  for (const file of wanted.files) if (!(await hasBlob(pull, file))) missing.push(file);
  await requireSpace(paths.partial, await remainingBytes(pull, missing));
  const fetched: FetchedFile[] = [];
  for (const file of wanted.files) {
    if (file.sha256 !== null && !missing.includes(file)) {
      fetched.push({ path: blobPath(paths, file.sha256), digest: file.sha256, isPresent: true });
      continue;
    }
    const path = downloadTarget(pull, file);
    fetched.push({ path, digest: await download(pull, wanted, file), isPresent: false });
  }
  return fetched;
}

function download(pull: PullContext, { repo, commit }: FilesToFetch, file: RepositoryFile): Promise<string> {
  const { access, retries, onEvent, signal } = pull;
  return downloadFile({
    access,
    repo,
    commit,
    file,
    target: downloadTarget(pull, file),
    retries,
    onEvent,
    onStep: (step) => pull.registry.store.step(step),
    signal,
  });
}

function lockFile(pull: PullContext, key: string): Promise<OwnerLock> {
  return takeLock(join(pull.registry.store.paths.partial, `${key}.lock`), {
    purpose: `hearth pull ${pull.ref}`,
    what: 'The same download',
    waitMs: Number.POSITIVE_INFINITY,
    onWait: ({ purpose, pid }) => pull.onEvent({ status: 'waiting', holder: `${purpose}, process ${pid}` }),
    signal: pull.signal,
  });
}

async function hasBlob({ registry, onEvent, signal }: PullContext, file: RepositoryFile): Promise<boolean> {
  if (file.sha256 === null) return false;
  const path = blobPath(registry.store.paths, file.sha256);
  if ((await fileSize(path)) !== file.sizeBytes) return false;
  const onBytes = (completed: number) =>
    onEvent({ status: 'verifying', file: file.path, total: file.sizeBytes, completed });
  return (await hashFile(path, { signal, onBytes })) === file.sha256;
}

async function remainingBytes(pull: PullContext, files: readonly RepositoryFile[]): Promise<number> {
  let sum = 0;
  for (const file of files)
    sum += Math.max(0, file.sizeBytes - ((await fileSize(downloadTarget(pull, file))) ?? 0));
  return sum;
}

function downloadTarget({ registry }: PullContext, file: RepositoryFile): string {
  const { paths } = registry.store;
  return file.sha256 === null
    ? join(paths.partial, `${partialKey(file)}.part`)
    : downloadPath(paths, file.sha256);
}

function partialKey(file: RepositoryFile): string {
  return file.sha256 === null ? `git-${file.gitSha1}` : `sha256-${file.sha256}`;
}

export interface SmallFile {
  readonly repo: string;
  readonly commit: string;
  readonly file: RepositoryFile;
}

export function fetchSmall(
  { access, retries, signal, onEvent }: PullContext,
  { repo, commit, file }: SmallFile,
  mostBytes: number,
): Promise<Buffer> {
  return withRetries(retries, { signal, onEvent }, async () => {
    const url = fileUrl(access, repo, commit, file.path);
    const answer = await requestHub(access, { url, repo, what: `file ${file.path} in ${repo}`, signal });
    try {
      return await readBeginning(answer, mostBytes);
    } catch (error) {
      throw translate(access, error);
    } finally {
      answer.destroy();
    }
  });
}

async function readBeginning(body: AsyncIterable<Buffer>, mostBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= mostBytes) break;
  }
  return Buffer.concat(parts).subarray(0, mostBytes);
}
