/**
 * store/files owns the folder on the disk: blobs by digest, one manifest per model, and the writer lock that every
 * change holds. It knows nothing of engines, hubs or the meaning of names in requests. The lock is short: downloads
 * and copies happen in partial/ and are committed by renames. The order is crash-safe: blobs are written before the
 * manifest that names them, and the manifest is removed before its blobs.
 */
import { readdir, stat, rm } from 'node:fs/promises';
import {
  makeFolder,
  moveDurably,
  removeDurably,
  type StepHook,
  writeDurably,
  errnoCode,
  fileSize,
  temporaryOwner,
} from '../../lib/files/durable.ts';
import { type FormerState, formatFormer, readFormer } from './former.ts';
import { InstalledReader, type InstalledSet } from './installed.ts';
import { blobDigests, formatManifest, type ModelManifest } from './manifest.ts';
import { takeLock } from '../lock/owner-lock.ts';
import { blobPath, isDigest, manifestPath, type StorePaths, storePaths } from './paths.ts';
import { dropUnusedLinks } from './shard-links.ts';
import { join } from 'node:path';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { isRunning } from '../../lib/base/process-tree.ts';

const WRITER_WAIT_MS = 10_000;

export interface SweepResult {
  readonly freedBytes: number;
  readonly removed: readonly string[];
  /** Ids of damaged manifests. If there is one, nothing is removed, because its blobs are unknown. */
  readonly blockedBy: readonly string[];
}

export class Store {
  readonly paths: StorePaths;
  readonly #onStep: StepHook | undefined;

  constructor(home: string, onStep?: StepHook) {
    this.paths = storePaths(home);
    this.#onStep = onStep;
  }

  /** Crash points of copies and downloads, which run outside the lock. */
  async step(name: string): Promise<void> {
    await this.#onStep?.(name);
  }

  async change<T>(purpose: string, apply: (writer: StoreWriter) => Promise<T>): Promise<T> {
    await this.prepareFolders();
    const lock = await takeLock(this.paths.writerLock, {
      purpose,
      what: 'The model store',
      waitMs: WRITER_WAIT_MS,
    });
    try {
      await this.step('lock.taken');
      await clearLeftovers(this.paths);
      return await apply(new StoreWriter(this.paths, this.#onStep));
    } finally {
      await lock.release();
    }
  }

  async prepareFolders(): Promise<void> {
    for (const folder of [this.paths.blobs, this.paths.manifests, this.paths.partial, this.paths.split])
      await makeFolder(folder);
  }
}

export class StoreWriter {
  readonly paths: StorePaths;
  readonly #onStep: StepHook | undefined;

  constructor(paths: StorePaths, onStep: StepHook | undefined) {
    this.paths = paths;
    this.#onStep = onStep;
  }

  async installed(): Promise<InstalledSet> {
    return new InstalledReader(this.paths).read();
  }

  async putManifest(manifest: ModelManifest): Promise<void> {
    await writeDurably(manifestPath(this.paths, manifest.id), formatManifest(manifest), this.#onStep);
  }

  async dropManifest(id: string): Promise<void> {
    await removeDurably(manifestPath(this.paths, id), this.#onStep);
  }

  async dropFile(path: string): Promise<void> {
    await removeDurably(path, this.#onStep);
  }

  /** `from` must be a complete, verified and synced file of partial/. */
  async adoptBlob(from: string, digest: string): Promise<void> {
    await moveDurably(from, blobPath(this.paths, digest), this.#onStep);
  }

  async writeDefaults(text: string): Promise<void> {
    await writeDurably(this.paths.defaults, text, this.#onStep);
  }

  async writeFormer(states: readonly FormerState[]): Promise<void> {
    await writeDurably(this.paths.former, formatFormer(states), this.#onStep);
  }

  /**
   * Removes the given blobs, or all, that no manifest names, and unused shard links. Weights from before an upgrade
   * stay.
   */
  async sweepBlobs(candidates?: readonly string[]): Promise<SweepResult> {
    const { manifests, damaged } = await this.installed();
    if (damaged.length > 0)
      return { freedBytes: 0, removed: [], blockedBy: damaged.map((entry) => entry.id) };
    const former = (await readFormer(this.paths)).map(({ model }) => model);
    const kept = former.filter(({ id }) => manifests.some((model) => model.id === id));
    const used = new Set([...manifests, ...kept].flatMap(blobDigests));
    const unused = (candidates ?? (await this.#digests())).filter((digest) => !used.has(digest));
    await dropUnusedLinks(this.paths, manifests);
    let freedBytes = 0;
    for (const digest of unused) {
      freedBytes += (await fileSize(blobPath(this.paths, digest))) ?? 0;
      await removeDurably(blobPath(this.paths, digest), this.#onStep);
    }
    return { freedBytes, removed: unused, blockedBy: [] };
  }

  async dropPartials(): Promise<number> {
    return clearPartials(this.paths, 0);
  }

  async #digests(): Promise<string[]> {
    const names = await readdir(this.paths.blobs);
    return names.map((name) => name.replace(/^sha256-/, '')).filter(isDigest);
  }
}

/** Kept this long, so that the same pull can continue. */
const KEEP_PARTIAL_MS = 7 * 24 * 3600 * 1000;

/**
 * Removes temporary files of dead writers. All of those in manifests/ are dead, because only holders of the lock
 * write there; others are made without the lock and are removed once their process is gone.
 */
async function clearLeftovers(paths: StorePaths): Promise<void> {
  await clearTemporaries(paths.manifests, () => true);
  for (const folder of [paths.root, paths.partial]) await clearTemporaries(folder, (pid) => !isRunning(pid));
  await clearPartials(paths, KEEP_PARTIAL_MS);
}

async function clearTemporaries(folder: string, isDead: (pid: number) => boolean): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = temporaryOwner(name);
    if (pid !== null && isDead(pid)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function clearPartials(paths: StorePaths, olderThanMs: number): Promise<number> {
  const keys = new Set<string>();
  for (const name of await readdir(paths.partial)) {
    const key = /^((?:sha256|git)-[0-9a-f]+)\.(?:part|lock(?:\.after-\w+)*)$/.exec(name)?.[1];
    if (key !== undefined) keys.add(key);
  }
  let freedBytes = 0;
  for (const key of keys) freedBytes += await clearPartial(join(paths.partial, key), olderThanMs);
  return freedBytes;
}

/** A live pull holds the download's own lock. */
async function clearPartial(stem: string, olderThanMs: number): Promise<number> {
  const lock = await takeLock(`${stem}.lock`, {
    purpose: 'hearth prune',
    what: 'A download',
    waitMs: 0,
  }).catch((error: unknown) => {
    if (isFailure(error, 'store_busy')) return null;
    throw error;
  });
  if (lock === null) return 0;
  try {
    if ((await ageMs(`${stem}.part`)) < olderThanMs) return 0;
    const { size } = await stat(`${stem}.part`);
    await rm(`${stem}.part`, { force: true });
    return size;
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return 0;
    throw error;
  } finally {
    await lock.release();
  }
}

async function ageMs(path: string): Promise<number> {
  return stat(path).then(
    (found) => Date.now() - found.mtimeMs,
    () => 0,
  );
}
