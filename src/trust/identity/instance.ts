/**
 * The instance: an Ed25519 key that is made with the home directory, and the id from the first key. The id stays when
 * the key is rotated; the previous key signs each rotation.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  hkdfSync,
} from 'node:crypto';
import { chmod, link, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoCode, makeFolder, syncFolder, writeDurably, writeFailure } from '../../lib/files/durable.ts';
import { readText } from '../../lib/files/plain-file.ts';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import { deriveInstanceId } from './instance-id.ts';

export interface InstanceKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key as SPKI, DER. */
  readonly spki: Buffer;
  /** Lower-case hex SHA-256 of the SPKI. */
  readonly keyid: string;
  readonly publicKeyPem: string;
}

export interface InstanceIdentity {
  readonly instanceId: string;
  /** 128 random bits of this process start, hex; never written to disk. */
  readonly bootId: string;
  readonly keys: InstanceKeys;
}

const KEY_FILE = 'key.pem';
const ID_FILE = 'id';
const FIRST_PUBLIC_KEY_FILE = 'first-public-key.pem';

export const instanceFolder = (home: string): string => join(home, 'instance');

/**
 * Loads the identity of a home directory, or makes it on first use; the boot id is new on every call. Writes nothing
 * if the identity exists and only its user can read the key. Throws `store_unwritable`, `disk_full`,
 * `store_unreadable` or `instance_unusable`.
 */
export async function loadIdentity(options: { readonly home: string }): Promise<InstanceIdentity> {
  const folder = instanceFolder(options.home);
  const keys = (await readKey(folder)) ?? (await createKey(folder));
  const instanceId = (await readId(folder)) ?? (await createId(folder, keys));
  return { instanceId, bootId: randomBytes(16).toString('hex'), keys };
}

/** Null if the home has no identity yet. Makes nothing. */
export const readInstanceId = (home: string): Promise<string | null> => readId(instanceFolder(home));

/** The key that the home has now, which a rotation may have replaced. Makes nothing. */
export async function currentKeys(home: string): Promise<InstanceKeys> {
  const folder = instanceFolder(home);
  const keys = await readKey(folder);
  if (keys === null) throw unusable(folder, KEY_FILE, 'is missing');
  return keys;
}

export function toInstanceKeys(privateKey: KeyObject): InstanceKeys {
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('the instance key is not an Ed25519 key');
  const publicKey = createPublicKey(privateKey);
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const keyid = createHash('sha256').update(spki).digest('hex');
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return { privateKey, publicKey, spki, keyid, publicKeyPem };
}

export const newInstanceKeys = (): InstanceKeys => toInstanceKeys(generateKeyPairSync('ed25519').privateKey);

/** Replaces the present key atomically. The caller must have recorded the rotation. */
export async function replaceKey(home: string, keys: InstanceKeys): Promise<void> {
  await writeDurably(join(instanceFolder(home), KEY_FILE), toPem(keys));
}

async function readKey(folder: string): Promise<InstanceKeys | null> {
  const path = join(folder, KEY_FILE);
  const pem = await readText(path);
  if (pem === null) return null;
  await closeToOthers(path, 0o600);
  // The key itself is private; an open folder in a read-only home reveals nothing.
  await closeToOthers(folder, 0o700).catch(() => {});
  try {
    return toInstanceKeys(createPrivateKey(pem));
  } catch (cause) {
    throw unusable(folder, KEY_FILE, 'is not a usable Ed25519 private key', cause);
  }
}

/** Changes nothing if already private, because the home may be read-only. */
async function closeToOthers(path: string, mode: number): Promise<void> {
  try {
    if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, mode);
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/** A lost key is never replaced: a new one could not prove the id, and its records would not verify. */
async function createKey(folder: string): Promise<InstanceKeys> {
  const key = newInstanceKeys();
  await makeFolder(folder);
  if (!(await hadKey(folder)) && (await createOnce(folder, KEY_FILE, toPem(key)))) return key;
  const winner = await readKey(folder);
  if (winner === null) throw unusable(folder, KEY_FILE, 'is missing, but the instance has an id already');
  return winner;
}

/** The key is made before the other two files, so either of them proves that it existed. */
async function hadKey(folder: string): Promise<boolean> {
  const later = [FIRST_PUBLIC_KEY_FILE, ID_FILE].map((name) => readText(join(folder, name)));
  return (await Promise.all(later)).some((text) => text !== null);
}

async function readId(folder: string): Promise<string | null> {
  const text = await readText(join(folder, ID_FILE));
  if (text === null) return null;
  const id = text.trim();
  if (!/^svc-[a-z2-7]{26}$/.test(id)) throw unusable(folder, ID_FILE, 'does not hold an instance id');
  return id;
}

/** The first public key is kept next to the id, because only it can prove the id after a rotation. */
async function createId(folder: string, keys: InstanceKeys): Promise<string> {
  await createOnce(folder, FIRST_PUBLIC_KEY_FILE, keys.publicKeyPem);
  await createOnce(folder, ID_FILE, `${deriveInstanceId(keys.spki)}\n`);
  return (await readId(folder)) ?? deriveInstanceId(keys.spki);
}

const unusable = (folder: string, name: string, reason: string, cause?: unknown): SvcError =>
  fail('instance_unusable', { path: join(folder, name), folder, reason }, cause);

const toPem = (key: InstanceKeys): string =>
  key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Creates a file with its whole content or not at all; false when another process was first. */
async function createOnce(folder: string, name: string, text: string): Promise<boolean> {
  const path = join(folder, name);
  const temporary = join(folder, `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    await writeNew(temporary, text);
    await link(temporary, path);
    return true;
  } catch (error) {
    if (errnoCode(error) === 'EEXIST') return false;
    throw writeFailure(path, error);
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
    await syncFolder(folder);
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** 32 bytes, hex. A secret reveals neither the key nor the secrets for other purposes. */
export function derivedSecret({ privateKey }: Pick<InstanceKeys, 'privateKey'>, purpose: string): string {
  const key = privateKey.export({ type: 'pkcs8', format: 'der' });
  return Buffer.from(hkdfSync('sha256', key, '', `hearth ${purpose}`, 32)).toString('hex');
}
