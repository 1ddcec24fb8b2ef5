/** What dead processes leave behind, and what of it may go. Called under the writer lock only. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isFailure } from '../../lib/errors/svc-error.ts';
import { errnoCode, temporaryOwner } from '../../lib/files/durable.ts';
import { takeLock } from '../lock/owner-lock.ts';
import type { StorePaths } from './paths.ts';
import { isRunning } from '../lock/process-identity.ts';

/** An unfinished download is kept this long, so that the same pull can continue it. */
const KEEP_PARTIAL_MS = 7 * 24 * 3600 * 1000;

/**
 * Clears temporary files of dead writers. None in manifests/ can be live, as only holders of the lock write there;
 * those elsewhere are made beside the lock and go when their process is gone.
 */
export async function clearLeftovers(paths: StorePaths): Promise<void> {
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

/** Removes downloads that nobody works on and that are older; returns what that freed. */
export async function clearPartials(paths: StorePaths, olderThanMs: number): Promise<number> {
  const keys = new Set<string>();
  for (const name of await readdir(paths.partial)) {
    const key = /^((?:sha256|git)-[0-9a-f]+)\.(?:part|lock(?:\.after-\w+)*)$/.exec(name)?.[1];
    if (key !== undefined) keys.add(key);
  }
  let freedBytes = 0;
  for (const key of keys) freedBytes += await clearPartial(join(paths.partial, key), olderThanMs);
  return freedBytes;
}

/** Looks at one download under its own lock, which a live pull holds; that of a dead one goes on the way. */
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

/** How long ago the file was written; zero when it is not there. */
async function ageMs(path: string): Promise<number> {
  return stat(path).then(
    (found) => Date.now() - found.mtimeMs,
    () => 0,
  );
}
