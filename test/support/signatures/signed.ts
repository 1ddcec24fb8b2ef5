/** Signatures as model_signing writes them, by keys of the test. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface TestSigner {
  readonly key: KeyObject;
  /** As a file of SVC_SIGNERS has it. */
  readonly pem: string;
}

export function newSigner(): TestSigner {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key: privateKey, pem: String(publicKey.export({ type: 'spki', format: 'pem' })) };
}

/** A bundle about these files, by their names below its folder. */
export function modelSignature({ key, pem }: TestSigner, files: Readonly<Record<string, Buffer>>): Buffer {
  const resources = Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, bytes]) => ({ name, algorithm: 'sha256', digest: sha256(bytes) }));
  const root = Buffer.concat(resources.map(({ digest }) => Buffer.from(digest, 'hex')));
  const payload = Buffer.from(
    JSON.stringify({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'model', digest: { sha256: sha256(root) } }],
      predicateType: 'https://model_signing/signature/v1.0',
      predicate: { serialization: { method: 'files', hash_type: 'sha256' }, resources },
    }),
  );
  const type = 'application/vnd.in-toto+json';
  const encoded = Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload]);
  return Buffer.from(
    JSON.stringify({
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: { publicKey: { hint: sha256(Buffer.from(pem)) }, tlogEntries: [] },
      dsseEnvelope: {
        payload: payload.toString('base64'),
        payloadType: type,
        signatures: [{ sig: sign('sha256', encoded, key).toString('base64'), keyid: '' }],
      },
    }),
  );
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
