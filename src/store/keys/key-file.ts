/**
 * store/keys owns API keys: a private file with their hashes and permissions. It knows nothing of requests. A key is
 * 256 random bits, so its plain SHA-256 reveals nothing and needs no slow hash.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { fail } from '../../lib/errors/svc-error.ts';
import { makeFolder, writeDurably } from '../../lib/files/durable.ts';
import { stampNow } from '../../lib/files/stamp.ts';
import { takeLock } from '../lock/owner-lock.ts';

export const KeyRecord = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$' }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    createdAt: Type.String(),
    admin: Type.Boolean(),
    models: Type.Optional(Type.Array(Type.String({ maxLength: 512 }), { maxItems: 256 })),
    /** Running or waiting at a time. */
    maxRequests: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    /** Prompt and answer together, per UTC day. */
    tokensPerDay: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    localOnly: Type.Boolean(),
    expiresAt: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type KeyRecord = Static<typeof KeyRecord>;

const KeyFile = Type.Object({ schema: Type.Literal(1), keys: Type.Array(KeyRecord, { maxItems: 1_000 }) });

const KEY_PREFIX = 'hearth_';
const LOCK_WAIT_MS = 5_000;

export const keyFilePath = (home: string): string => path.join(home, 'keys.json');

export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Differs for every state of the file; an unreadable file differs from an absent one. */
export function keyFileStamp(home: string): string {
  try {
    return stampNow(keyFilePath(home))?.text ?? 'none';
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Empty if there is no file. Rejects with `key_file_unusable` if it is damaged or others could change it. */
export async function readKeys(home: string): Promise<readonly KeyRecord[]> {
  const file = keyFilePath(home);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw fail('key_file_unusable', { path: file, reason: error.message });
  });
  if (text === null) return [];
  // A user who can change this file can admit anybody.
  if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0) {
    throw fail('key_file_unusable', {
      path: file,
      reason: 'other users may read or change it; run chmod 600',
    });
  }
  const value = parsed(text);
  if (!Check(KeyFile, value)) throw fail('key_file_unusable', { path: file, reason: 'it is damaged' });
  return value.keys;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export async function addKey(
  home: string,
  rights: Omit<KeyRecord, 'sha256' | 'createdAt'>,
  nowMs: number,
): Promise<{ readonly key: string; readonly record: KeyRecord }> {
  const key = KEY_PREFIX + randomBytes(32).toString('base64url');
  const record = { ...rights, sha256: hashOfKey(key), createdAt: new Date(nowMs).toISOString() };
  await change(home, `hearth key add ${rights.name}`, (keys) => {
    if (keys.some(({ name }) => name === rights.name)) throw fail('key_exists', { name: rights.name });
    return [...keys, record];
  });
  return { key, record };
}

export async function removeKey(home: string, name: string): Promise<void> {
  await change(home, `hearth key rm ${name}`, (keys) => {
    if (!keys.some((key) => key.name === name)) throw fail('key_not_found', { name });
    return keys.filter((key) => key.name !== name);
  });
}

async function change(
  home: string,
  purpose: string,
  edit: (keys: readonly KeyRecord[]) => readonly KeyRecord[],
): Promise<void> {
  await makeFolder(home);
  const file = keyFilePath(home);
  const lock = await takeLock(`${file}.lock`, {
    purpose,
    what: 'The file of API keys',
    waitMs: LOCK_WAIT_MS,
  });
  try {
    const keys = edit(await readKeys(home));
    await writeDurably(file, `${JSON.stringify({ schema: 1, keys }, null, 2)}\n`);
  } finally {
    await lock.release();
  }
}
