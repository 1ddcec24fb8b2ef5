/**
 * Signatures by short-lived certificates, which a log or a timestamp dates (Sigstore). Sigstore's library verifies
 * them against a file's keys, or those of the public instance at the time of this release.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { type SignedEntity, toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { isFailure, errorMessage } from '../../lib/errors/svc-error.ts';
import { preAuthEncoding } from '../identity/dsse.ts';
import type { Proof, SignedContent } from './bundle.ts';
import { fault } from './fault.ts';
import { type FileBytes, signerOfFile } from './key-signature.ts';
import type { SignerFacts } from './signers.ts';
import { PUBLIC_ROOT } from './sigstore-root.ts';

type KeylessProof = Extract<Proof, { kind: 'keyless' }>;

/** `root`: a trusted root in the format of Sigstore's tools; null: the public instance's. Throws signature_invalid. */
export async function keylessSigner(
  { certificate, bundle }: KeylessProof,
  content: SignedContent,
  file: FileBytes | null,
  root: unknown,
): Promise<SignerFacts> {
  const isOfFile = content.kind === 'file' && file !== null && (await hasSigned(certificate, content, file));
  try {
    const trusted = TrustedRoot.fromJSON(root ?? PUBLIC_ROOT);
    if (
      ![...trusted.tlogs, ...trusted.ctlogs].every(
        ({ publicKey }) => publicKey?.validFor?.start !== undefined,
      )
    )
      throw fault('the trusted root does not say since when its logs count');
    const parsed = bundleFromJSON(bundle);
    const entity = toSignedEntity(parsed, Buffer.alloc(0));
    const signature: SignedEntity['signature'] = {
      signature: entity.signature.signature,
      compareSignature: (other) => entity.signature.compareSignature(other),
      compareDigest: (digest) => digest.equals(digestInLog(content, file, entity)),
      verifySignature: (key) => (content.kind === 'file' ? isOfFile : entity.signature.verifySignature(key)),
    };
    const verifier = new Verifier(toTrustMaterial(trusted), {
      // A private instance may have no log, and dates signatures by timestamps instead.
      ctlogThreshold: trusted.ctlogs.length > 0 ? 1 : 0,
      tlogThreshold: trusted.tlogs.length > 0 ? 1 : 0,
    });
    const { identity } = verifier.verify({ ...entity, signature });
    return {
      kind: 'identity',
      identity: plain(identity?.subjectAlternativeName),
      issuer: plain(identity?.extensions?.issuer),
    };
  } catch (error) {
    throw isFailure(error, 'signature_invalid') ? error : fault(verifierSays(error));
  }
}

function digestInLog(content: SignedContent, file: FileBytes | null, { tlogEntries }: SignedEntity): Buffer {
  if (content.kind === 'file') return Buffer.from(file?.sha256 ?? '', 'hex');
  const { payloadType, payload } = content;
  const isOfAll = tlogEntries.every(({ kindVersion }) => kindVersion.kind === 'hashedrekord');
  return createHash('sha256')
    .update(isOfAll ? preAuthEncoding(payloadType, payload) : payload)
    .digest();
}

async function hasSigned(
  certificate: Buffer,
  content: Extract<SignedContent, { kind: 'file' }>,
  file: FileBytes,
): Promise<boolean> {
  if (content.hash !== 'sha256') throw fault('it signs another digest of the file than SHA-256');
  try {
    const key = new X509Certificate(certificate).publicKey;
    return (await signerOfFile([{ key }], file, content)) !== null;
  } catch (error) {
    throw isFailure(error, 'signature_invalid') ? error : fault(verifierSays(error));
  }
}

/** Names come from a certificate and are displayed, so they are bounded. */
const plain = (text: string | undefined): string => (text ?? '').slice(0, 1000);

const verifierSays = (error: unknown): string =>
  `Sigstore's verifier refuses it (${errorMessage(error).split('\n')[0]?.slice(0, 200) ?? ''})`;
