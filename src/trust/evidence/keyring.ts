/**
 * The public keys that a verifier trusts, and the rotation from one instance key to the next. Both keys sign a
 * rotation: the old one hands over, the new one proves its possession.
 */
import type { KeyObject } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { sha256Hex } from '../identity/canonical.ts';
import { Base64, isSignedBy, parsePublicKey } from '../identity/dsse.ts';
import { deriveInstanceId } from '../identity/instance-id.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { readProofFile } from './proof-file.ts';
import { time } from './statement.ts';
import { parseStrictly } from './strict-text.ts';

export const ROTATION_PAYLOAD_TYPE = 'application/vnd.svc.key-rotation+json';

const Signature = Type.Object({ keyid: Type.String(), sig: Base64 });
export const RotationEnvelope = Type.Object({
  payloadType: Type.Literal(ROTATION_PAYLOAD_TYPE),
  payload: Base64,
  signatures: Type.Tuple([Signature, Signature]),
});
export type RotationEnvelope = Static<typeof RotationEnvelope>;

export const Rotation = Type.Object({
  instance_id: Type.String(),
  seq: Type.Integer({ minimum: 1 }),
  old_public_key: Type.String(),
  new_public_key: Type.String(),
  rotated_at: time(
    'When the old key was replaced; it signs nothing dated later, and the new one nothing earlier.',
  ),
});
export type Rotation = Static<typeof Rotation>;

/** Output of `hearth evidence pubkey --history`: enough to trust every key of an instance from its id alone. */
export const KeyHistory = Type.Object({
  object: Type.Literal('svc.key-history'),
  instance_id: Type.String(),
  first_public_key: Type.String(),
  rotations: Type.Array(RotationEnvelope),
});
export type KeyHistory = Static<typeof KeyHistory>;

export interface TrustedKey {
  readonly keyid: string;
  readonly publicKey: KeyObject;
  readonly instanceId: string;
  /** Validity of the key, from the signed rotations around it, both inclusive; null: open. */
  readonly period: { readonly from: string | null; readonly until: string | null };
}

export interface Keyring {
  readonly keys: readonly TrustedKey[];
  readonly instanceId: string | null;
  /** The keys of this home, which were not chosen for this record: a missing key proves nothing. */
  readonly isHome?: boolean;
  /** Trusts any holder of one of the keys, whatever instance it claims. */
  readonly isPinned?: boolean;
}

/** Accepts PEM (one key or several), a key history, or a proof or a signed identity with either. */
export function parseKeyring(file: string): Keyring {
  const text = readProofFile(file)?.publicKey ?? file;
  if (text.trimStart().startsWith('{')) {
    const value = parseStrictly(text);
    return Check(SignedIdentity, value) ? keyringOfIdentity(value) : keyringFromJson(value);
  }
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  if (blocks.length === 0) throw unusable('it holds neither a PEM public key nor a key history');
  return { keys: blocks.map(trusted), instanceId: null };
}

/** The answer to `GET /v1/identity?nonce=…`, as far as it names keys. */
const SignedIdentity = Type.Object({
  object: Type.Literal('svc.identity'),
  signature: Type.Object({ public_key: Type.String(), key_history: Type.Optional(Type.Unknown()) }),
});

function keyringOfIdentity({ signature }: Static<typeof SignedIdentity>): Keyring {
  const { public_key: pem, key_history: history } = signature;
  return history === undefined ? { keys: [trusted(pem)], instanceId: null } : keyringFromJson(history);
}

/** Checks a history from the first key on; throws where a link does not hold. */
export function keyringFromJson(value: unknown): Keyring {
  if (!Check(KeyHistory, value)) throw unusable('it is not a key history');
  const first = trusted(value.first_public_key);
  if (first.instanceId !== value.instance_id)
    throw unusable(`its first key is not that of ${value.instance_id}`);

  const keys = [first];
  for (const [index, envelope] of value.rotations.entries()) {
    const previous = keys.at(-1) ?? first;
    const { next, at } = rotated(envelope, { previous, instanceId: value.instance_id, seq: index + 1 });
    keys[index] = { ...previous, period: { ...previous.period, until: at } };
    keys.push({ ...next, period: { from: at, until: null } });
  }
  return { keys, instanceId: value.instance_id };
}

function rotated(
  envelope: RotationEnvelope,
  expected: { readonly previous: TrustedKey; readonly instanceId: string; readonly seq: number },
): { readonly next: TrustedKey; readonly at: string } {
  const payload = Buffer.from(envelope.payload, 'base64');
  const place = `rotation ${expected.seq}`;
  const isSigned = (key: TrustedKey, { keyid, sig }: { keyid: string; sig: string }): boolean =>
    keyid === key.keyid &&
    isSignedBy(key.publicKey, {
      payloadType: ROTATION_PAYLOAD_TYPE,
      payload,
      sig: Buffer.from(sig, 'base64'),
    });
  if (!isSigned(expected.previous, envelope.signatures[0]))
    throw unusable(`${place} is not signed by the key before it`);

  const rotation = parseStrictly(payload);
  if (!Check(Rotation, rotation)) throw unusable(`${place} is malformed`);
  if (rotation.instance_id !== expected.instanceId || rotation.seq !== expected.seq)
    throw unusable(`${place} belongs to another place of another history`);

  const next = trusted(rotation.new_public_key);
  if (!isSigned(next, envelope.signatures[1])) throw unusable(`${place} is not signed by the new key`);
  return { next, at: rotation.rotated_at };
}

function trusted(pem: string): TrustedKey {
  const publicKey = parsePublicKey(`${pem.trim()}\n`);
  if (publicKey === null) throw unusable('a public key in it is malformed');
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const period = { from: null, until: null };
  return { publicKey, keyid: sha256Hex(spki), instanceId: deriveInstanceId(spki), period };
}

const unusable = (reason: string): Error => fail('record_malformed', { reason });
