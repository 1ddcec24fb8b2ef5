/**
 * The answer to `GET /v1/identity?nonce=…`: a signature by which a launcher distinguishes this instance from a
 * squatter on its port. It covers the whole identity body, the caller's nonce and the bound address.
 */
import { canonicalJson, sha256Hex } from './canonical.ts';
import { isSignedBy, parsePublicKey, signPayload } from './dsse.ts';
import type { InstanceKeys } from './instance.ts';
import { deriveInstanceId } from './instance-id.ts';

/** Separates this signature from those over evidence records and key rotations. */
export const IDENTITY_PAYLOAD_TYPE = 'application/vnd.svc.identity-proof+json';

export interface IdentitySignature {
  readonly alg: 'Ed25519';
  readonly keyid: string;
  readonly nonce: string;
  /** `host:port` of the listener; it exposes a relay on another port. */
  readonly address?: string;
  readonly public_key: string;
  /** After a rotation: the hand-overs that lead from the first key to this one. */
  readonly key_history?: Readonly<Record<string, unknown>>;
  readonly sig: string;
}

/** The key, and the keys before it. */
export interface IdentitySigner {
  readonly keys: InstanceKeys;
  readonly history?: { readonly rotations: readonly unknown[] };
}

/** Signs a body without its `signature` member; `address` is the `host:port` that was bound. */
export function signIdentity(
  identity: object,
  nonce: string,
  { keys, history }: IdentitySigner,
  address?: string,
): IdentitySignature {
  const payload = signedPayload(identity, nonce, address);
  return {
    alg: 'Ed25519',
    keyid: keys.keyid,
    nonce,
    ...(address === undefined ? {} : { address }),
    public_key: keys.publicKeyPem,
    ...(history === undefined || history.rotations.length === 0 ? {} : { key_history: { ...history } }),
    sig: signPayload(keys, IDENTITY_PAYLOAD_TYPE, payload).toString('base64'),
  };
}

/** The caller's prior knowledge: `keyid` from the home directory, or the instance id that it remembers. */
export interface IdentityExpectation {
  readonly nonce: string;
  readonly pinned: { readonly keyid: string } | { readonly instanceId: string };
  /** The port that the caller connected to; a relay listens on another one. */
  readonly port?: number;
}

/** Null when the expected instance has signed the body for this nonce; otherwise the reason as a sentence. */
export function findIdentityFault(
  body: Readonly<Record<string, unknown>>,
  expected: IdentityExpectation,
): string | null {
  const { signature, ...identity } = body;
  if (!isSignature(signature)) return 'the answer carries no well-formed signature';
  if (signature.nonce !== expected.nonce) return 'the signature is over another nonce';
  const key = parsePublicKey(signature.public_key);
  if (key === null) return 'the public key is malformed';
  const { pinned } = expected;
  const spki = key.export({ type: 'spki', format: 'der' });
  const isPinned =
    'keyid' in pinned ? sha256Hex(spki) === pinned.keyid : deriveInstanceId(spki) === pinned.instanceId;
  if (!isPinned) return 'it is signed with another key';
  const { port } = expected;
  if (port !== undefined && signature.address?.endsWith(`:${port}`) !== true)
    return `it listens on ${signature.address ?? 'an unknown address'}, not on port ${port}: something relays it`;

  const signed = {
    payloadType: IDENTITY_PAYLOAD_TYPE,
    payload: signedPayload(identity, expected.nonce, signature.address),
    sig: Buffer.from(signature.sig, 'base64'),
  };
  return isSignedBy(key, signed) ? null : 'the signature does not fit the body';
}

const isSignature = (value: unknown): value is IdentitySignature => {
  if (typeof value !== 'object' || value === null) return false;
  const { alg, nonce, address, public_key: pem, sig } = value as Record<string, unknown>;
  const isText = [nonce, pem, sig].every((item) => typeof item === 'string');
  return alg === 'Ed25519' && isText && (address === undefined || typeof address === 'string');
};

const signedPayload = (identity: object, nonce: string, address: string | undefined): Buffer =>
  Buffer.from(canonicalJson({ identity, nonce, ...(address === undefined ? {} : { address }) }));
