import { createHash, createVerify, type KeyObject, verify, type Verify } from 'node:crypto';
import { preAuthEncoding } from '../identity/dsse.ts';
import type { SignedContent } from './bundle.ts';
import { fault } from './fault.ts';
import { readOnce } from './read-once.ts';

const OF_CURVE: Readonly<Record<string, string>> = { secp384r1: 'sha384', secp521r1: 'sha512' };

/** Early releases of model_signing took SHA-256 with every curve. */
function usualHashes({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): readonly (string | null)[] {
  switch (asymmetricKeyType) {
    case 'ed25519':
      return [null];
    case 'rsa':
      return ['sha256'];
    case 'ec':
      return [...new Set([OF_CURVE[asymmetricKeyDetails?.namedCurve ?? ''] ?? 'sha256', 'sha256'])];
    default:
      return [];
  }
}

/** A bundle names a key by the digest of its PEM, as model_signing does, or of its DER, as cosign does. */
export function isHinted(hint: string | null, key: KeyObject): boolean {
  const newDigest = (bytes: string | Buffer) => createHash('sha256').update(bytes);
  return (
    hint === newDigest(key.export({ type: 'spki', format: 'pem' })).digest('hex') ||
    hint === newDigest(key.export({ type: 'spki', format: 'der' })).digest('base64')
  );
}

export function hasSignedStatement(
  key: KeyObject,
  { payloadType, payload, sig }: Extract<SignedContent, { kind: 'statement' }>,
): boolean {
  return [preAuthEncoding, earlyEncoding].some((encode) => {
    const bytes = encode(payloadType, payload);
    return usualHashes(key).some((hash) => verify(hash, bytes, key, sig));
  });
}

/**
 * The encoding of model_signing 0.2 and 0.3: with a capital V, and with the payload as Python prints bytes
 * (JSON has double quotes, so that it prints single ones).
 */
function earlyEncoding(payloadType: string, payload: Buffer): Buffer {
  let text = '';
  for (const byte of payload) {
    const character = String.fromCharCode(byte);
    const short = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }[character];
    if (short !== undefined) text += short;
    else if (character === "'") text += "\\'";
    else if (byte >= 0x20 && byte < 0x7f) text += character;
    else text += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return Buffer.from(`DSSEV1 ${payloadType.length} ${payloadType} ${payload.length} b'${text}'`);
}

export interface FileBytes {
  readonly path: string;
  readonly sha256: string;
}

/** The first of the keys that signed the file, in one pass over it; null: none. Throws signature_invalid. */
export async function signerOfFile<Signer extends { readonly key: KeyObject }>(
  signers: readonly Signer[],
  file: FileBytes,
  { hash, digest: stated, sig }: Extract<SignedContent, { kind: 'file' }>,
): Promise<Signer | null> {
  const tries = signers.flatMap((signer): { signer: Signer; reader: Verify }[] =>
    (hash === null ? usualHashes(signer.key) : [hash]).flatMap((each) =>
      each === null || signer.key.asymmetricKeyType === 'ed25519'
        ? []
        : [{ signer, reader: createVerify(each) }],
    ),
  );
  if (tries.length === 0) return null;
  const [whole, signed] = [createHash('sha256'), createHash(hash ?? 'sha256')];
  await readOnce(file.path, [whole, signed, ...tries.map(({ reader }) => reader)]);
  if (whole.digest('hex') !== file.sha256) throw fault('the file changed while it was read');
  if (stated !== null && !signed.digest().equals(stated))
    throw fault('the file has another digest than it states');
  return tries.find(({ signer: { key }, reader }) => reader.verify(key, sig))?.signer ?? null;
}
