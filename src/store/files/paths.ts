/** The only place that joins store paths: every part is a checked digest or id, never text from outside. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fail } from '../../lib/errors/svc-error.ts';
import { isBlobFile, type ModelFile } from './manifest.ts';
import { idToFileName } from './model-id.ts';

export interface StorePaths {
  readonly root: string;
  readonly blobs: string;
  readonly manifests: string;
  readonly partial: string;
  /** Shards under their real names, hard-linked to blobs, because native code finds siblings by name. */
  readonly split: string;
  readonly defaults: string;
  readonly former: string;
  readonly engines: string;
  readonly writerLock: string;
}

const DIGEST = /^[0-9a-f]{64}$/;

export function storePaths(home: string): StorePaths {
  const root = join(home, 'store');
  return {
    root,
    blobs: join(root, 'blobs'),
    manifests: join(root, 'manifests'),
    partial: join(root, 'partial'),
    split: join(root, 'split'),
    defaults: join(root, 'defaults.json'),
    former: join(root, 'former.json'),
    engines: join(root, 'engines'),
    writerLock: join(root, 'writer.lock'),
  };
}

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

export function blobPath(paths: StorePaths, digest: string): string {
  return join(paths.blobs, `sha256-${checkDigest(digest)}`);
}

export function filePath(paths: StorePaths, file: ModelFile): string {
  return isBlobFile(file) ? blobPath(paths, file.digest) : file.path;
}

/** An unfinished download. The name is the same in every run, so that a later one can resume it. */
export function downloadPath(paths: StorePaths, digest: string): string {
  return join(paths.partial, `sha256-${checkDigest(digest)}.part`);
}

export function manifestPath(paths: StorePaths, id: string): string {
  return join(paths.manifests, `${idToFileName(id)}.json`);
}

export function splitFolder(paths: StorePaths, digests: readonly string[]): string {
  const name = createHash('sha256').update(digests.map(checkDigest).join('\n'));
  return join(paths.split, name.digest('hex'));
}

function checkDigest(digest: string): string {
  if (!isDigest(digest)) throw fail('internal', { reason: 'not a digest' });
  return digest;
}
