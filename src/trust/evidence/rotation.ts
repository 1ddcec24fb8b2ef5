import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing, makeFolder, writeDurably } from '../../lib/files/durable.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { signPayload } from '../identity/dsse.ts';
import {
  currentKeys,
  instanceFolder,
  type InstanceIdentity,
  type InstanceKeys,
  loadIdentity,
  newInstanceKeys,
  replaceKey,
} from '../identity/instance.ts';
import {
  type KeyHistory,
  keyringFromJson,
  type Rotation,
  type RotationEnvelope,
  ROTATION_PAYLOAD_TYPE,
  type TrustedKey,
} from './keyring.ts';
import { isoSecond } from './record.ts';

/**
 * Makes a new key, records the hand-over, then installs the key. A crash between the two steps leaves the old key and
 * a hand-over to a lost key; the next rotation overwrites it. `atMs` dates the hand-over: a little ahead of the clock, so that a
 * running service dates nothing later with the old key.
 */
export async function rotateKey(
  home: string,
  atMs: number,
): Promise<{ readonly publicKeyPem: string; readonly seq: number }> {
  const identity = await loadIdentity({ home });
  const history = await readKeyHistory(home);
  if (history === null) throw new Error(`${home} holds no instance`);
  const known = keyringFromJson(history).keys;
  const place = known.findIndex((key) => key.keyid === identity.keys.keyid);
  if (place < 0) throw unusableKey(home, 'holds a key that this instance never had');
  const seq = place + 1;
  const keys = newInstanceKeys();
  const envelope = handOver(identity, keys, { seq, atMs });
  const folder = join(instanceFolder(home), 'rotations');
  await makeFolder(folder);
  await writeDurably(join(folder, `${String(seq).padStart(6, '0')}.json`), `${JSON.stringify(envelope)}\n`);
  await replaceKey(home, keys);
  return { publicKeyPem: keys.publicKeyPem, seq };
}

/** A hand-over is dated so far ahead of the clock. */
export const HAND_OVER_MS = 2000;

/** The key with which an instance signs now. */
export interface SigningKey {
  readonly keys: InstanceKeys;
  /** Its signatures of another time do not verify. */
  readonly period: TrustedKey['period'];
  readonly history: KeyHistory;
}

/** Read anew for each signature: another process may have replaced the key. */
export async function readSigningKey(home: string, instanceId: string): Promise<SigningKey> {
  // The key first: the history of a key that is in place names it already.
  const keys = await currentKeys(home);
  const history = await readKeyHistory(home);
  if (history?.instance_id !== instanceId) throw unusableKey(home, 'belongs to another instance now');
  const own = keyringFromJson(history).keys.find(({ keyid }) => keyid === keys.keyid);
  if (own === undefined) throw unusableKey(home, 'holds a key that this instance never had');
  return { keys, period: own.period, history };
}

function unusableKey(home: string, reason: string): Error {
  const folder = instanceFolder(home);
  return fail('instance_unusable', { path: join(folder, 'key.pem'), folder, reason });
}

/** The history of a home directory, up to its present key; null where no instance was ever made. */
export async function readKeyHistory(home: string): Promise<KeyHistory | null> {
  const folder = instanceFolder(home);
  const id = await readFile(join(folder, 'id'), 'utf8').catch(ifMissing(null));
  if (id === null) return null;
  const first = await readFile(join(folder, 'first-public-key.pem'), 'utf8');
  const rotations = join(folder, 'rotations');
  const names = (await readdir(rotations).catch(ifMissing<string[]>([])))
    .filter((name) => /^\d{6}\.json$/.test(name))
    .sort();
  const envelopes = await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(rotations, name), 'utf8')) as RotationEnvelope),
  );
  return { object: 'svc.key-history', instance_id: id.trim(), first_public_key: first, rotations: envelopes };
}

function handOver(
  identity: InstanceIdentity,
  next: InstanceKeys,
  { seq, atMs }: { readonly seq: number; readonly atMs: number },
): RotationEnvelope {
  const rotation: Rotation = {
    instance_id: identity.instanceId,
    seq,
    old_public_key: identity.keys.publicKeyPem,
    new_public_key: next.publicKeyPem,
    rotated_at: isoSecond(atMs),
  };
  const payload = Buffer.from(JSON.stringify(rotation));
  const sign = (keys: InstanceKeys) => ({
    keyid: keys.keyid,
    sig: signPayload(keys, ROTATION_PAYLOAD_TYPE, payload).toString('base64'),
  });
  return {
    payloadType: ROTATION_PAYLOAD_TYPE,
    payload: payload.toString('base64'),
    signatures: [sign(identity.keys), sign(next)],
  };
}
