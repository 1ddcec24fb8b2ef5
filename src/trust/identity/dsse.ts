/**
 * DSSE envelopes: a signature over the exact payload bytes and their type, so that a verifier checks bytes first and
 * parses afterwards. The type keeps signatures of different purposes apart.
 */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { type Static, Type } from 'typebox';
import type { InstanceKeys } from './instance.ts';

/**
 * Base64 with padding in its canonical form: no characters that a lax decoder would skip, and no bits after the last
 * byte.
 */
export const Base64 = Type.String({
  pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$',
});

export const Envelope = Type.Object(
  {
    payloadType: Type.String({ maxLength: 200 }),
    payload: Base64,
    signatures: Type.Array(Type.Object({ keyid: Type.String({ pattern: '^[0-9a-f]{64}$' }), sig: Base64 }), {
      minItems: 1,
      maxItems: 1,
    }),
  },
  { $id: 'Envelope' },
);
export type Envelope = Static<typeof Envelope>;

/** The signed bytes: `DSSEv1 <len(type)> <type> <len(payload)> <payload>`. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${type.length} `),
    type,
    Buffer.from(` ${payload.length} `),
    payload,
  ]);
}

export function signPayload(keys: InstanceKeys, payloadType: string, payload: Uint8Array): Buffer {
  return sign(null, preAuthEncoding(payloadType, payload), keys.privateKey);
}

export function isSignedBy(
  publicKey: KeyObject,
  signed: { readonly payloadType: string; readonly payload: Uint8Array; readonly sig: Uint8Array },
): boolean {
  if (publicKey.asymmetricKeyType !== 'ed25519') return false;
  return verify(null, preAuthEncoding(signed.payloadType, signed.payload), publicKey, signed.sig);
}

export function seal(keys: InstanceKeys, payloadType: string, payload: Uint8Array): Envelope {
  return {
    payloadType,
    payload: Buffer.from(payload).toString('base64'),
    signatures: [{ keyid: keys.keyid, sig: signPayload(keys, payloadType, payload).toString('base64') }],
  };
}

export function parsePublicKey(pem: string): KeyObject | null {
  // createPublicKey would also derive a public key from a private one; a verifier must not accept those.
  if (!pem.startsWith('-----BEGIN PUBLIC KEY-----')) return null;
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}
