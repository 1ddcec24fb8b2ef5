/** Installed models, read from the manifests folder. Damaged entries are reported and never hide the others. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fail, isSvcError, errorReason } from '../../lib/errors/svc-error.ts';
import { errnoCode } from '../../lib/files/durable.ts';
import { type Stamp, stampNow } from '../../lib/files/stamp.ts';
import { MAX_MANIFEST_BYTES, type ModelManifest, parseManifest } from './manifest.ts';
import { fileNameToId, lookupKeys } from './model-id.ts';
import type { StorePaths } from './paths.ts';

export interface DamagedManifest {
  readonly id: string;
  readonly path: string;
  readonly reason: string;
}

export interface InstalledSet {
  readonly manifests: readonly ModelManifest[];
  readonly damaged: readonly DamagedManifest[];
}

type Named =
  | { readonly matched: string; readonly model: ModelManifest }
  | { readonly damaged: DamagedManifest };

interface CachedFile {
  /** Empty: must be read again. */
  readonly stamp: string;
  readonly manifest: ModelManifest | undefined;
  readonly damage: DamagedManifest | undefined;
}

/** Delay until an edit inside a manifest is noticed; such an edit does not change the folder's stat. */
const RECHECK_MS = 1000;
/** Manifests opened at once, so that a large store does not use up the process's file descriptors. */
const MOST_OPEN = 16;

/**
 * Reads the folder on each call, so that a running server sees a change by the CLI with its next request. Every
 * change that Hearth makes adds, replaces or removes a file, which changes the folder's own stat. While that is
 * unchanged, one stat answers for all manifests; otherwise each manifest with a changed stat is parsed again.
 */
export class InstalledReader {
  readonly #paths: StorePaths;
  readonly #cache = new Map<string, CachedFile>();
  #known: { readonly stamp: string; readonly set: InstalledSet; checkedMs: number } | undefined;

  constructor(paths: StorePaths) {
    this.#paths = paths;
  }

  async read(): Promise<InstalledSet> {
    const folder = this.#folderStamp();
    if (folder === null) return { manifests: [], damaged: [] };
    const known = this.#known?.stamp === folder.text ? this.#known : undefined;
    if (known !== undefined && Math.abs(Date.now() - known.checkedMs) < RECHECK_MS) return known.set;
    // Other callers use the known set while this call looks at every file.
    if (known !== undefined) known.checkedMs = Date.now();
    const set = await this.#readAll();
    this.#known = folder.isSettled ? { stamp: folder.text, set, checkedMs: Date.now() } : undefined;
    return set;
  }

  /** Null for a home without a store, which is empty, not broken. */
  #folderStamp(): Stamp | null {
    try {
      return stampNow(this.#paths.manifests);
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  async #readAll(): Promise<InstalledSet> {
    const names = await this.#names();
    for (const known of this.#cache.keys()) if (!names.includes(known)) this.#cache.delete(known);
    const files: (CachedFile | undefined)[] = [];
    for (let first = 0; first < names.length; first += MOST_OPEN) {
      const together = names.slice(first, first + MOST_OPEN);
      files.push(...(await Promise.all(together.map((name) => this.#file(name)))));
    }
    return {
      manifests: files.flatMap((file) => file?.manifest ?? []),
      damaged: files.flatMap((file) => file?.damage ?? []),
    };
  }

  async #names(): Promise<string[]> {
    try {
      const names = await readdir(this.#paths.manifests);
      return names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort();
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') return [];
      throw this.#unreadable(error);
    }
  }

  async #file(name: string): Promise<CachedFile | undefined> {
    const path = join(this.#paths.manifests, name);
    let stamp: Stamp | null;
    try {
      stamp = stampNow(path);
    } catch (error) {
      return damagedFile(name, path, errnoCode(error) ?? String(error));
    }
    if (stamp === null) return undefined;
    const cached = this.#cache.get(name);
    if (cached?.stamp === stamp.text) return cached;
    const fresh = await readManifest(name, path, stamp.text);
    if (stamp.isSettled && fresh?.stamp === stamp.text) this.#cache.set(name, fresh);
    return fresh;
  }

  #unreadable(error: unknown): Error {
    const detail = {
      path: this.#paths.manifests,
      reason: errnoCode(error) ?? String(error),
      remedy: 'check its owner and permissions, or set SVC_HOME',
    };
    return fail('store_unreadable', detail, error);
  }
}

/**
 * Finds what a name means, for every verb and request. The exact spelling precedes the tolerant ones, and within one
 * spelling ids precede aliases. A damaged entry keeps its own spelling, so that no other model is used, or removed,
 * in its place.
 */
export function lookUp({ manifests, damaged }: InstalledSet, name: string): Named | undefined {
  for (const key of lookupKeys(name)) {
    const model =
      manifests.find((entry) => entry.id === key) ?? manifests.find((entry) => entry.aliases.includes(key));
    if (model) return { matched: key, model };
    const broken = damaged.find((entry) => entry.id === key);
    if (broken) return { damaged: broken };
  }
  const lower = name.toLowerCase();
  for (const model of manifests) {
    const matched = model.aliases.find((alias) => alias.toLowerCase() === lower);
    if (matched !== undefined) return { matched, model };
  }
  return undefined;
}

async function readManifest(name: string, path: string, stamp: string): Promise<CachedFile | undefined> {
  const id = fileNameToId(name.slice(0, -'.json'.length));
  if (id === null) return damagedFile(name, path, 'its file name is not a model id');
  try {
    // Reading a pipe would block for ever.
    if (!(await stat(path)).isFile()) return damagedFile(id, path, 'it is not a file');
    const bytes = await readFile(path);
    if (bytes.length > MAX_MANIFEST_BYTES) return damagedFile(id, path, 'it is too large');
    return { stamp, manifest: parseManifest(bytes.toString('utf8'), id), damage: undefined };
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined;
    if (isSvcError(error)) return { ...damagedFile(id, path, errorReason(error)), stamp };
    // Too many open files or a failing disk proves nothing about the file: the next look reads it again.
    return damagedFile(id, path, errnoCode(error) ?? String(error));
  }
}

function damagedFile(id: string, path: string, reason: string): CachedFile {
  return { stamp: '', manifest: undefined, damage: { id, path, reason } };
}
