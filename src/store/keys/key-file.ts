/**
 * store/keys owns API keys: a private file with their hashes and permissions. It knows nothing of requests. A key is
 * 256 random bits, so its plain SHA-256 reveals nothing and needs no slow hash.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { parseJson } from '../../lib/base/json.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { makeFolder, writeDurably } from '../../lib/files/durable.ts';
import { stampNow } from '../../lib/files/stamp.ts';
import { takeLock } from '../lock/owner-lock.ts';

/** Far more than run at a time anywhere. */
export const MOST_REQUESTS = 100_000;
const MOST_MODELS = 256;
const MOST_KEYS = 1_000;
const MOST_REPLACED = 16;

const SecretHash = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const KeyRecord = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$' }),
    sha256: SecretHash,
    /** Of a rotated key: its first secret, from which the owner of its data derives. */
    firstSha256: Type.Optional(SecretHash),
    /** Earlier secrets, newest first, and when each ends. */
    replaced: Type.Optional(
      Type.Array(Type.Object({ sha256: SecretHash, until: Type.String() }), { maxItems: MOST_REPLACED }),
    ),
    createdAt: Type.String(),
    admin: Type.Boolean(),
    /** Ids and aliases; absent: all. */
    models: Type.Optional(Type.Array(Type.String({ maxLength: 512 }), { maxItems: MOST_MODELS })),
    /** Requests that run or wait at a time. */
    maxRequests: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_REQUESTS })),
    /** Prompt and answer together, by the day of UTC. */
    tokensPerDay: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    localOnly: Type.Boolean(),
    expiresAt: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type KeyRecord = Static<typeof KeyRecord>;

const KeyFile = Type.Object({
  schema: Type.Literal(1),
  keys: Type.Array(KeyRecord, { maxItems: MOST_KEYS }),
});

const TOO_MUCH = `The file of API keys takes at most ${MOST_KEYS} keys, each with at most ${MOST_MODELS} models and ${MOST_REQUESTS} requests; nothing was changed.`;

const newSecret = (): string => `hearth_${randomBytes(32).toString('base64url')}`;
const LOCK_WAIT_MS = 5_000;

export const keyFilePath = (home: string): string => path.join(home, 'keys.json');

export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

export const secretHashes = ({ sha256, replaced = [] }: KeyRecord): readonly string[] => [
  sha256,
  ...replaced.map((old) => old.sha256),
];

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
  const value = parseJson(text);
  if (!Check(KeyFile, value)) throw fail('key_file_unusable', { path: file, reason: 'it is damaged' });
  return value.keys;
}

/** Limits and permissions of a key. */
type KeyRights = Omit<KeyRecord, 'name' | 'sha256' | 'firstSha256' | 'replaced' | 'createdAt'>;

/** Each right that is named replaces the one before; undefined takes the limit away. */
export type KeyChange = { readonly [Right in keyof KeyRights]?: KeyRights[Right] | undefined };

/** Makes a key; it is shown once, and only its hash is kept. Rejects with `key_exists`. */
export async function addKey(
  home: string,
  { name, ...rights }: KeyChange & Pick<KeyRecord, 'name'>,
  nowMs: number,
): Promise<{ readonly key: string; readonly record: KeyRecord }> {
  const key = newSecret();
  const defaults = { name, admin: false, localOnly: false };
  const record = { ...defaults, ...rights, sha256: hashOfKey(key), createdAt: new Date(nowMs).toISOString() };
  const keys = await change(home, `hearth key add ${name}`, (before) => {
    if (before.some((each) => each.name === name)) throw fail('key_exists', { name });
    return [...before, record];
  });
  return { key, record: ofName(keys, name) };
}

/** Gives a key other rights; it stays the same key. Rejects with `key_not_found`. */
export async function changeKey(home: string, name: string, rights: KeyChange): Promise<KeyRecord> {
  return changeRecord(home, `hearth key set ${name}`, name, (record) => ({ ...record, ...rights }));
}

/**
 * Gives a key another secret; it stays the same key. The earlier secrets end after `overlapMs` at the latest. Rejects
 * with `key_not_found`.
 */
export async function rotateKey(
  home: string,
  name: string,
  { overlapMs, nowMs }: { readonly overlapMs: number; readonly nowMs: number },
): Promise<{ readonly key: string; readonly record: KeyRecord }> {
  const key = newSecret();
  const end = new Date(nowMs + overlapMs).toISOString();
  const record = await changeRecord(home, `hearth key rotate ${name}`, name, (before) => {
    const { sha256, firstSha256 = sha256, replaced = [] } = before;
    const earlier = replaced.map((old) => ({
      ...old,
      until: Date.parse(old.until) < Date.parse(end) ? old.until : end,
    }));
    return {
      ...before,
      sha256: hashOfKey(key),
      firstSha256,
      replaced: [{ sha256, until: end }, ...earlier].slice(0, MOST_REPLACED),
    };
  });
  return { key, record };
}

async function changeRecord(
  home: string,
  purpose: string,
  name: string,
  edit: (record: KeyRecord) => KeyRecord | KeyChange,
): Promise<KeyRecord> {
  const changed = await change(home, purpose, (keys) => {
    if (!keys.some((key) => key.name === name)) throw fail('key_not_found', { name });
    return keys.map((key) => (key.name === name ? edit(key) : key));
  });
  return ofName(changed, name);
}

function ofName(keys: readonly KeyRecord[], name: string): KeyRecord {
  const found = keys.find((key) => key.name === name);
  if (found === undefined) throw new Error('a key was written and is not there');
  return found;
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
  edit: (keys: readonly KeyRecord[]) => readonly (KeyRecord | KeyChange)[],
): Promise<readonly KeyRecord[]> {
  await makeFolder(home);
  const file = keyFilePath(home);
  const lock = await takeLock(`${file}.lock`, {
    purpose,
    what: 'The file of API keys',
    waitMs: LOCK_WAIT_MS,
  });
  try {
    const text = `${JSON.stringify({ schema: 1, keys: edit(await readKeys(home)) }, null, 2)}\n`;
    // JSON has no undefined, so a removed limit is gone from the file.
    const value = parseJson(text);
    // A file that cannot be read again would admit nobody.
    if (!Check(KeyFile, value)) throw fail('unsupported_value', { param: 'key', message: TOO_MUCH });
    await writeDurably(file, text);
    return value.keys;
  } finally {
    await lock.release();
  }
}
