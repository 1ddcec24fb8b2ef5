/**
 * store/lock owns the lock between processes. It does not know what the lock protects.
 * Three parts, each for what the others cannot do: the record is the lock, lasts as long as its process, and names the
 * holder to those who wait; process-identity tells at once whether that very process still runs, where a time-out alone
 * would keep a dead holder's lock; proper-lockfile, on any file system, makes reading and replacing the record one step.
 */
import { randomBytes } from 'node:crypto';
import { rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lock as lockFile } from '#proper-lockfile';
import { type Static, Type } from '#typebox';
import { Check } from '#typebox/value';
import { fail } from '../../lib/errors/svc-error.ts';
import { errnoOf, temporaryName, writeFailure } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';
import { livenessOf, ownIdentity } from './process-identity.ts';

const HolderRecord = Type.Object({
  pid: Type.Integer(),
  startTicks: Type.Union([Type.String(), Type.Null()]),
  bootId: Type.Union([Type.String(), Type.Null()]),
  pidNamespace: Type.Union([Type.String(), Type.Null()]),
  host: Type.String(),
  purpose: Type.String(),
  since: Type.String(),
  token: Type.String(),
});
export type HolderRecord = Static<typeof HolderRecord>;

export interface LockOptions {
  /** What the holder does, for the message that others see; a command line such as `hearth pull x`. */
  readonly purpose: string;
  /** What is locked, as the subject of that message. */
  readonly what: string;
  /** How long to wait for another holder; 0 fails at once. */
  readonly waitMs: number;
  readonly onWait?: (holder: HolderRecord) => void;
  readonly signal?: AbortSignal;
}

export interface OwnerLock {
  release(): Promise<void>;
}

/** A holder that cannot be judged from here counts as dead after this long without a sign of life. */
const SILENT_MS = 30_000;
const HEARTBEAT_MS = 5_000;
const POLL_MS = 40;

/** Takes the lock kept in the file `path`, or throws `store_busy` naming the holder. */
export async function takeLock(path: string, options: LockOptions): Promise<OwnerLock> {
  const record = newRecord(options.purpose);
  const prepared = join(dirname(path), temporaryName(basename(path)));
  try {
    // Written first, so that a folder without permission fails at once and not after many tries for the guard.
    await writeFile(prepared, JSON.stringify(record), { mode: 0o600, flag: 'wx' });
    await waitForLock(path, prepared, options);
    return heldLock(path, record);
  } catch (error) {
    await rm(prepared, { force: true });
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw writeFailure(path, error);
  }
}

async function waitForLock(path: string, prepared: string, options: LockOptions): Promise<void> {
  const deadline = performance.now() + options.waitMs;
  let announced = false;
  while (true) {
    options.signal?.throwIfAborted();
    const holder = await tryTake(path, prepared);
    if (holder === null) return;
    if (performance.now() >= deadline) throw busy(path, options.what, holder);
    if (!announced) options.onWait?.(holder);
    announced = true;
    await delay(POLL_MS, undefined, options.signal ? { signal: options.signal } : {});
  }
}

/** The live holder of the lock in `path`, or null; only a snapshot, for messages and listings. */
export async function lockHolder(path: string): Promise<HolderRecord | null> {
  const holder = await readRecord(path);
  return holder !== null && (await isHeld(path, holder)) ? holder : null;
}

/** Null when the lock is ours now, else whoever holds it. */
async function tryTake(path: string, prepared: string): Promise<HolderRecord | null> {
  const unguard = await guard(path);
  try {
    const holder = await lockHolder(path);
    if (holder === null) await rename(prepared, path);
    return holder;
  } finally {
    await unguard();
  }
}

/** Serialises readers and writers of the record; a process killed inside is overtaken after two seconds. */
async function guard(path: string): Promise<() => Promise<void>> {
  try {
    return await lockFile(path, {
      realpath: false,
      lockfilePath: `${path}.guard`,
      stale: 2000,
      retries: { retries: 400, factor: 1.2, minTimeout: 2, maxTimeout: 40, randomize: true },
      // The guard is held for a moment only; losing it to a suspended machine is noticed by the token check.
      onCompromised: () => {},
    });
  } catch (error) {
    if (errnoOf(error) !== 'ELOCKED') throw writeFailure(path, error);
    throw fail('store_busy', { what: path, holder: 'a process that does not let go' }, error);
  }
}

function heldLock(path: string, record: HolderRecord): OwnerLock {
  const beat = setInterval(() => {
    const now = new Date();
    // A failed sign of life is harmless here: holders on this system are judged by their process instead.
    utimes(path, now, now).catch(() => {});
  }, HEARTBEAT_MS);
  beat.unref();
  return {
    release: async () => {
      clearInterval(beat);
      const current = await readRecord(path);
      if (current?.token === record.token) await rm(path, { force: true });
    },
  };
}

async function isHeld(path: string, holder: HolderRecord): Promise<boolean> {
  const liveness = livenessOf(holder);
  if (liveness !== 'unknown') return liveness === 'alive';
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
  return Date.now() - mtimeMs < SILENT_MS;
}

async function readRecord(path: string): Promise<HolderRecord | null> {
  try {
    const text = await readText(path);
    const value: unknown = text === null ? null : JSON.parse(text);
    return Check(HolderRecord, value) ? value : null;
  } catch (error) {
    // A record is renamed into place whole; an unreadable one is what a power cut left, and nobody's.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function newRecord(purpose: string): HolderRecord {
  return {
    ...ownIdentity(),
    purpose,
    since: new Date().toISOString(),
    token: randomBytes(8).toString('hex'),
  };
}

function busy(path: string, what: string, holder: HolderRecord): Error {
  const where = livenessOf(holder) === 'unknown' ? ` on ${holder.host}` : '';
  return fail('store_busy', {
    what,
    param: path,
    pid: holder.pid,
    holder: `${holder.purpose}, process ${holder.pid}${where}, since ${holder.since}`,
  });
}
