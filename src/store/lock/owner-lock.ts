/**
 * store/lock owns the lock between processes. It does not know what the lock protects. The lock is a file with a
 * record of its holder. It is valid while that process runs, which the start time in /proc shows, or else a socket
 * that the system closes.
 */
import { randomBytes } from 'node:crypto';
import { link, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { parseJson } from '../../lib/base/json.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { errnoCode, temporaryName, writeFailure } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';
import { isAnswered, type LifeLine, openLifeLine } from './life-line.ts';
import { type Liveness, checkLiveness, ownIdentity } from './process-identity.ts';
import { rename } from '../../lib/files/busy.ts';

const HolderRecord = Type.Object({
  pid: Type.Integer(),
  startTicks: Type.Union([Type.String(), Type.Null()]),
  bootId: Type.Union([Type.String(), Type.Null()]),
  pidNamespace: Type.Union([Type.String(), Type.Null()]),
  host: Type.String(),
  /** Name of the holder's socket; null if /proc is enough. */
  lifeLine: Type.Union([Type.String(), Type.Null()]),
  purpose: Type.String(),
  since: Type.String(),
  token: Type.String({ pattern: '^\\w{1,64}$' }),
});
export type HolderRecord = Static<typeof HolderRecord>;

export interface LockOptions {
  /** Shown to others; a command line such as `hearth pull x`. */
  readonly purpose: string;
  /** The locked thing, as the subject of that message. */
  readonly what: string;
  readonly waitMs: number;
  readonly onWait?: (holder: HolderRecord) => void;
  readonly signal?: AbortSignal;
}

export interface OwnerLock {
  release(): Promise<void>;
}

/** A holder that cannot be checked from here counts as dead after this long without a sign of life. */
const SILENT_MS = 30_000;
const HEARTBEAT_MS = 5_000;
const POLL_MS = 40;
/**
 * Without hard links, a record is written after its file was created; unreadable for longer than this, it has no
 * holder.
 */
const SETTLE_MS = 2_000;
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

export async function takeLock(path: string, options: LockOptions): Promise<OwnerLock> {
  const token = randomBytes(8).toString('hex');
  const identity = ownIdentity();
  const lifeLine = identity.startTicks === null ? await openLifeLine(token) : null;
  const { purpose } = options;
  const record = {
    ...identity,
    lifeLine: lifeLine?.name ?? null,
    purpose,
    since: new Date().toISOString(),
    token,
  };
  const prepared = join(dirname(path), temporaryName(basename(path)));
  try {
    await writeFile(prepared, JSON.stringify(record), { mode: 0o600, flag: 'wx' });
    await waitForLock(path, { prepared, record }, options);
    return heldLock(path, record, lifeLine);
  } catch (error) {
    lifeLine?.close();
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw writeFailure(path, error);
  } finally {
    await rm(prepared, { force: true });
  }
}

interface Claim {
  readonly prepared: string;
  readonly record: HolderRecord;
}

async function waitForLock(path: string, claim: Claim, options: LockOptions): Promise<void> {
  const deadline = performance.now() + options.waitMs;
  let announced = false;
  while (true) {
    options.signal?.throwIfAborted();
    const holder = await tryTake(path, claim);
    if (holder === null) return;
    if (performance.now() >= deadline) throw busy(path, options.what, holder);
    if (!announced && holder !== 'unknown') {
      options.onWait?.(holder);
      announced = true;
    }
    await delay(POLL_MS, undefined, options.signal ? { signal: options.signal } : {});
  }
}

/** Null if nobody holds it. Only a snapshot, for messages and listings. */
export async function lockHolder(path: string): Promise<HolderRecord | null> {
  const { holder } = await inspect(path);
  return holder === 'unknown' ? null : holder;
}

async function tryTake(path: string, claim: Claim): Promise<HolderRecord | 'unknown' | null> {
  while (!(await create(path, claim))) {
    const { holder, dead } = await inspect(path);
    if (holder !== null) return holder;
    if (dead === null) continue;
    // Of several processes that find a dead holder, only one creates this file, and only that one replaces the
    // record.
    const succession = `${path}.after-${dead}`;
    const rival = await tryTake(succession, claim);
    if (rival !== null) return rival;
    if ((await inspect(path)).dead === dead) {
      await rename(succession, path);
      return null;
    }
    await rm(succession, { force: true });
  }
  return null;
}

/** With hard links the file appears complete. False if it exists. */
async function create(path: string, { prepared, record }: Claim): Promise<boolean> {
  try {
    await link(prepared, path).catch((error: unknown) => {
      if (!NO_LINKS.includes(errnoCode(error) ?? '')) throw error;
      return writeFile(path, JSON.stringify(record), { mode: 0o600, flag: 'wx' });
    });
    return true;
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return false;
    throw error;
  }
}

interface Found {
  readonly holder: HolderRecord | 'unknown' | null;
  /** Identifies the dead holder; null: the lock is free. */
  readonly dead: string | null;
}

async function inspect(path: string): Promise<Found> {
  const record = await readRecord(path);
  if (record === null) return { holder: null, dead: null };
  if (record === 'unreadable') {
    const isNew = (await ageMs(path)) < SETTLE_MS;
    return isNew ? { holder: 'unknown', dead: null } : { holder: null, dead: record };
  }
  return (await isHeld(path, record)) ? { holder: record, dead: null } : { holder: null, dead: record.token };
}

function heldLock(path: string, record: HolderRecord, lifeLine: LifeLine | null): OwnerLock {
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
      if (current !== null && current !== 'unreadable' && current.token === record.token)
        await rm(path, { force: true });
      lifeLine?.close();
    },
  };
}

async function isHeld(path: string, holder: HolderRecord): Promise<boolean> {
  const liveness = await judged(holder);
  return liveness === 'unknown' ? (await ageMs(path)) < SILENT_MS : liveness === 'alive';
}

/** If process ids cannot be compared, the holder's own socket shows if it runs. */
async function judged(holder: HolderRecord): Promise<Liveness> {
  const liveness = checkLiveness(holder);
  if (liveness !== 'unknown' || holder.lifeLine === null || holder.host !== ownIdentity().host)
    return liveness;
  const isAlive = await isAnswered(holder.lifeLine);
  return isAlive === undefined ? 'unknown' : isAlive ? 'alive' : 'dead';
}

async function ageMs(path: string): Promise<number> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
  return Date.now() - mtimeMs;
}

async function readRecord(path: string): Promise<HolderRecord | 'unreadable' | null> {
  const text = await readText(path);
  const value = text === null ? null : parseJson(text);
  // Left by a power cut, or just being written.
  return value === null ? null : Check(HolderRecord, value) ? value : 'unreadable';
}

function busy(path: string, what: string, holder: HolderRecord | 'unknown'): Error {
  if (holder === 'unknown')
    return fail('store_busy', { what, param: path, holder: 'a process that is just taking it' });
  const isOnOtherHost = holder.lifeLine === null && checkLiveness(holder) === 'unknown';
  const where = isOnOtherHost ? ` on ${holder.host}` : '';
  return fail('store_busy', {
    what,
    param: path,
    pid: holder.pid,
    holder: `${holder.purpose}, process ${holder.pid}${where}, since ${holder.since}`,
  });
}
