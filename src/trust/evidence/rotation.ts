import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, writeDurably } from '../../lib/files/durable.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { signPayload } from '../identity/dsse.ts';
import {
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
} from './keyring.ts';
import { isoSecond } from './record.ts';

/**
 * Makes a new key, records the hand-over, then installs the key. A crash between the two steps leaves the old key and
 * a hand-over to a lost key; the next rotation overwrites it. A running server keeps its key until it is restarted.
 */
export async function rotateKey(
  home: string,
  nowMs: number,
): Promise<{ readonly publicKeyPem: string; readonly seq: number }> {
  const identity = await loadIdentity({ home });
  const history = await readKeyHistory(home);
  if (history === null) throw new Error(`${home} holds no instance`);
  const known = keyringFromJson(history).keys;
  const place = known.findIndex((key) => key.keyid === identity.keys.keyid);
  if (place < 0) {
    const folder = instanceFolder(home);
    const reason = 'holds a key that this instance never had';
    throw fail('instance_unusable', { path: join(folder, 'key.pem'), folder, reason });
  }
  const seq = place + 1;
  const keys = newInstanceKeys();
  const envelope = handOver(identity, keys, { seq, nowMs });
  const folder = join(instanceFolder(home), 'rotations');
  await makeFolder(folder);
  await writeDurably(join(folder, `${String(seq).padStart(6, '0')}.json`), `${JSON.stringify(envelope)}\n`);
  await replaceKey(home, keys);
  return { publicKeyPem: keys.publicKeyPem, seq };
}

export async function readKeyHistory(home: string): Promise<KeyHistory | null> {
  const folder = instanceFolder(home);
  const id = await readFile(join(folder, 'id'), 'utf8').catch(() => null);
  if (id === null) return null;
  const first = await readFile(join(folder, 'first-public-key.pem'), 'utf8');
  const rotations = join(folder, 'rotations');
  const names = (await readdir(rotations).catch(() => []))
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
  { seq, nowMs }: { readonly seq: number; readonly nowMs: number },
): RotationEnvelope {
  const rotation: Rotation = {
    instance_id: identity.instanceId,
    seq,
    old_public_key: identity.keys.publicKeyPem,
    new_public_key: next.publicKeyPem,
    rotated_at: isoSecond(nowMs),
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
