/**
 * Signatures by certificates of minutes, which a log or a timestamp dates (Sigstore). Its own library verifies them, against
 * the keys of the public instance as they were when this version of Hearth was made, or against those of a file.
 */
import { X509Certificate } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { messageOf } from '../../lib/errors/svc-error.ts';
import type { Proof, SignedContent } from './bundle.ts';
import { fault, SignatureFault } from './fault.ts';
import { type FileBytes, signerOfFile } from './key-signature.ts';
import type { SignerFacts } from './signers.ts';
import { PUBLIC_ROOT } from './sigstore-root.ts';

type KeylessProof = Extract<Proof, { kind: 'keyless' }>;

/** `root`: a trusted root as Sigstore's tools write it; null: of the public instance. Throws SignatureFault. */
export async function keylessSigner(
  { certificate, bundle }: KeylessProof,
  content: SignedContent,
  file: FileBytes | null,
  root: unknown,
): Promise<SignerFacts> {
  const isOfFile = content.kind === 'file' && file !== null && (await hasSigned(certificate, content, file));
  try {
    const trusted = TrustedRoot.fromJSON(root ?? PUBLIC_ROOT);
    const parsed = bundleFromJSON(bundle);
    // The bytes of a file are not kept in memory: they were read above.
    const entity = toSignedEntity(parsed, Buffer.alloc(0));
    const { signature } = entity;
    const sha256 = Buffer.from(file?.sha256 ?? '', 'hex');
    const ofFile = {
      signature: signature.signature,
      compareSignature: (other: Buffer) => signature.compareSignature(other),
      compareDigest: (digest: Buffer) => digest.equals(sha256),
      verifySignature: () => isOfFile,
    };
    const verifier = new Verifier(toTrustMaterial(trusted), {
      // An instance of one's own may have no log, and dates signatures by timestamps then.
      ctlogThreshold: trusted.ctlogs.length > 0 ? 1 : 0,
      tlogThreshold: trusted.tlogs.length > 0 ? 1 : 0,
    });
    const { identity } = verifier.verify(content.kind === 'file' ? { ...entity, signature: ofFile } : entity);
    return {
      kind: 'identity',
      identity: plain(identity?.subjectAlternativeName),
      issuer: plain(identity?.extensions?.issuer),
    };
  } catch (error) {
    // The library throws errors of many kinds at bytes that are not what they should be.
    throw error instanceof SignatureFault ? error : fault(reasonOf(error));
  }
}

async function hasSigned(
  certificate: Buffer,
  content: Extract<SignedContent, { kind: 'file' }>,
  file: FileBytes,
): Promise<boolean> {
  // What a log records is SHA-256.
  if (content.hash !== 'sha256') throw fault('it signs another digest of the file than SHA-256');
  try {
    const key = new X509Certificate(certificate).publicKey;
    return (await signerOfFile([{ key }], file, content)) !== null;
  } catch (error) {
    throw error instanceof SignatureFault ? error : fault(reasonOf(error));
  }
}

/** Names come from a certificate, and are shown. */
const plain = (text: string | undefined): string => (text ?? '').slice(0, 1000);

const reasonOf = (error: unknown): string =>
  `Sigstore's verifier refuses it (${messageOf(error).split('\n')[0]?.slice(0, 200) ?? ''})`;
