/** What is installed, read from the manifests folder; damaged entries are reported and never hide the others. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fail, isSvcError, reasonOf } from '../../lib/errors/svc-error.ts';
import { errnoOf } from '../../lib/files/durable.ts';
import { MAX_MANIFEST_BYTES, type ModelManifest, parseManifest } from './manifest.ts';
import { fileNameToId, lookupKeys } from './model-id.ts';
import type { StorePaths } from '../files/paths.ts';

export interface DamagedManifest {
  readonly id: string;
  readonly path: string;
  readonly reason: string;
}

export interface InstalledSet {
  /** Sorted by id. */
  readonly manifests: readonly ModelManifest[];
  readonly damaged: readonly DamagedManifest[];
}

/** What a name means: a model under its id or an alias, or a manifest that cannot be used. */
type Named =
  | { readonly matched: string; readonly model: ModelManifest }
  | { readonly damaged: DamagedManifest };

interface CachedFile {
  readonly stamp: string;
  readonly manifest: ModelManifest | undefined;
  readonly damage: DamagedManifest | undefined;
}

/** A file changed more recently than this may change again within the same tick of the file system's clock. */
const SETTLED_MS = 50;

/**
 * Reads the folder afresh on every call, parsing only files whose stat changed, so that a running server sees
 * what the CLI did with its next request. Synchronous on purpose: a few stats cost less than a thread hop.
 */
export class InstalledReader {
  readonly #paths: StorePaths;
  readonly #cache = new Map<string, CachedFile>();

  constructor(paths: StorePaths) {
    this.#paths = paths;
  }

  read(): InstalledSet {
    const names = this.#names();
    for (const known of this.#cache.keys()) if (!names.includes(known)) this.#cache.delete(known);
    const files = names.map((name) => this.#file(name)).filter((file) => file !== undefined);
    return {
      manifests: files.flatMap((file) => file.manifest ?? []),
      damaged: files.flatMap((file) => file.damage ?? []),
    };
  }

  #names(): string[] {
    try {
      return readdirSync(this.#paths.manifests)
        .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
        .sort();
    } catch (error) {
      // A home without a store is empty, not broken.
      if (errnoOf(error) === 'ENOENT') return [];
      throw fail(
        'store_unreadable',
        {
          path: this.#paths.manifests,
          reason: errnoOf(error) ?? String(error),
          remedy: 'check its owner and permissions, or set SVC_HOME',
        },
        error,
      );
    }
  }

  #file(name: string): CachedFile | undefined {
    const path = join(this.#paths.manifests, name);
    let stamp: string;
    let settled: boolean;
    try {
      const stat = statSync(path, { bigint: true });
      stamp = [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
      settled = Math.abs(Date.now() - Number(stat.ctimeMs)) > SETTLED_MS;
    } catch (error) {
      // Removed between the listing and here.
      if (errnoOf(error) === 'ENOENT') return undefined;
      return damagedFile(name, path, errnoOf(error) ?? String(error));
    }
    const cached = this.#cache.get(name);
    if (cached?.stamp === stamp) return cached;
    const fresh = readFile(name, path, stamp);
    if (settled && fresh !== undefined) this.#cache.set(name, fresh);
    return fresh;
  }
}

/**
 * Finds what a name means, the same for every verb and every request. The exact spelling wins over the tolerant ones,
 * and within one spelling ids win over aliases. A damaged entry keeps its own spelling, so that no other model is
 * used, or removed, in its place.
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

function readFile(name: string, path: string, stamp: string): CachedFile | undefined {
  const id = fileNameToId(name.slice(0, -'.json'.length));
  if (id === null) return damagedFile(name, path, 'its file name is not that of a model id');
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MAX_MANIFEST_BYTES) return damagedFile(id, path, 'it is too large');
    return { stamp, manifest: parseManifest(bytes.toString('utf8'), id), damage: undefined };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    const reason = isSvcError(error) ? reasonOf(error) : (errnoOf(error) ?? String(error));
    return { ...damagedFile(id, path, reason), stamp };
  }
}

function damagedFile(id: string, path: string, reason: string): CachedFile {
  return { stamp: '', manifest: undefined, damage: { id, path, reason } };
}
