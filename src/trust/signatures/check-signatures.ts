/** Finds the signers of each file of a model from the signatures stored next to them. */
import { posix } from 'node:path';
import { isFailure, isSvcError } from '../../lib/errors/svc-error.ts';
import { readBundle, type SignatureBundle, type SignedContent } from './bundle.ts';
import { certifiedKey } from './certificate-chain.ts';
import { fault } from './fault.ts';
import { hasSignedStatement, isHinted, signerOfFile } from './key-signature.ts';
import { hasParts } from './read-once.ts';
import { readStatement, type SignedFiles, type SignedPart, THE_FILE } from './statement.ts';
import { type ListedSigners, listedAs, type SignerFacts } from './signers.ts';

export interface FileToCheck {
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
}

export interface FoundSignature {
  readonly name: string;
  /** The file that it is named after; null: it covers all files of its folder. */
  readonly of: string | null;
  readonly bytes: Buffer;
}

export interface Finding {
  /** `unlisted`: the signer is not in the list. `failed`: signed, but the signature is defective. */
  readonly state: 'trusted' | 'unlisted' | 'failed' | 'unsigned';
  readonly signature: string | null;
  readonly signer: SignerFacts | null;
  readonly reason: string | null;
}

export interface CheckContext {
  readonly signers: ListedSigners;
  /** A trusted root of Sigstore; null: the public instance's. */
  readonly root: unknown;
  readonly nowMs: number;
}

const UNSIGNED: Finding = { state: 'unsigned', signature: null, signer: null, reason: null };
/**
 * For a file with several signatures: one valid signature is enough, and a failed one is reported before a
 * stranger's.
 */
const BEST_FIRST: readonly Finding['state'][] = ['trusted', 'failed', 'unlisted', 'unsigned'];

export async function checkSignatures(
  files: readonly FileToCheck[],
  signatures: readonly FoundSignature[],
  context: CheckContext,
): Promise<Finding[]> {
  const found = files.map((): Finding[] => [UNSIGNED]);
  for (const signature of signatures) {
    const scope = files.filter(({ name }) => isInScope(signature, name));
    const findings = await readSignature(signature, scope, context);
    for (const [file, finding] of findings) found[files.indexOf(file)]?.push(finding);
  }
  return found.map(pickBest);
}

function pickBest(findings: readonly Finding[]): Finding {
  const found = BEST_FIRST.flatMap((state) => findings.filter((each) => each.state === state));
  return found[0] ?? UNSIGNED;
}

function isInScope({ name, of }: FoundSignature, file: string): boolean {
  if (of !== null) return of === file;
  const folder = posix.dirname(name);
  return folder === '.' ? !file.startsWith('../') : file.startsWith(`${folder}/`);
}

async function readSignature(
  signature: FoundSignature,
  files: readonly FileToCheck[],
  context: CheckContext,
): Promise<Map<FileToCheck, Finding>> {
  const findings = new Map<FileToCheck, Finding>();
  const failed = (error: unknown): Finding => ({
    state: 'failed',
    signature: signature.name,
    signer: null,
    reason: whyFailed(error),
  });
  try {
    const bundle = readBundle(signature.bytes);
    const { content } = bundle;
    const statement =
      content.kind === 'statement'
        ? {
            signed: readStatement(content.payloadType, content.payload),
            signer: await findSigner(bundle, null, context),
          }
        : null;
    for (const file of files) {
      try {
        const signer =
          statement === null
            ? await findSigner(bundle, file, context)
            : (await speaksRightly(statement.signed, signature, file)) && statement.signer;
        if (signer === false) continue;
        const state = listedAs(context.signers, signer) === null ? 'unlisted' : 'trusted';
        findings.set(file, { state, signature: signature.name, signer, reason: null });
      } catch (error) {
        findings.set(file, failed(error));
      }
    }
  } catch (error) {
    for (const file of files) findings.set(file, failed(error));
  }
  return findings;
}

function whyFailed(error: unknown): string {
  if (isFailure(error, 'signature_invalid')) return error.detail.reason;
  if (isSvcError(error)) throw error;
  return 'it cannot be read';
}

/** `file` is null for a statement, which is signed alone. Throws signature_invalid. */
async function findSigner(
  { content, proof }: SignatureBundle,
  file: FileToCheck | null,
  context: CheckContext,
): Promise<SignerFacts> {
  const { keys, authorities } = context.signers;
  switch (proof.kind) {
    case 'key': {
      const signer = await firstSigner(keys, content, file);
      if (signer === null && keys.some(({ key }) => isHinted(proof.hint, key)))
        throw fault('the key that it names did not make it');
      return { kind: 'key', fingerprint: signer?.fingerprint ?? null };
    }
    case 'chain': {
      const certified = certifiedKey(proof.certificates, authorities, context.nowMs);
      if ((await firstSigner([certified], content, file)) === null)
        throw fault('the key of its certificate did not make it');
      return certified.signer;
    }
    case 'keyless': {
      const { keylessSigner } = await import('./keyless.ts');
      return keylessSigner(proof, content, file, context.root);
    }
  }
}

async function firstSigner<Signer extends { readonly key: ListedSigners['keys'][number]['key'] }>(
  signers: readonly Signer[],
  content: SignedContent,
  file: FileToCheck | null,
): Promise<Signer | null> {
  if (content.kind === 'statement')
    return signers.find(({ key }) => hasSignedStatement(key, content)) ?? null;
  return file === null ? null : signerOfFile(signers, file, content);
}

/** False: the statement does not name the file. Throws signature_invalid if it names other bytes. */
async function speaksRightly(
  signed: SignedFiles,
  { name, of }: FoundSignature,
  file: FileToCheck,
): Promise<boolean> {
  const relative = posix.relative(posix.dirname(name), file.name);
  const parts = findParts(signed, relative);
  if (parts === null) {
    const alias = [...signed.parts].find(
      ([, [first]]) => first?.range === null && first.digest === file.sha256,
    );
    if (alias !== undefined) throw fault(`these bytes are signed under the name "${alias[0].slice(0, 200)}"`);
    if (of !== null) throw fault('it does not speak of the file that it is named after');
    return false;
  }
  if (await hasParts(file, parts)) return true;
  // A statement about one unnamed file may be about another one of the folder.
  if (of === null && signed.parts.has(THE_FILE)) return false;
  throw fault('the file has other bytes than those that were signed');
}

function findParts({ parts, isByBaseName }: SignedFiles, relative: string): readonly SignedPart[] | null {
  const found = parts.get(relative) ?? (parts.size === 1 ? parts.get(THE_FILE) : undefined);
  if (found !== undefined || !isByBaseName) return found ?? null;
  const base = posix.basename(relative);
  const named = [...parts].filter(([name]) => posix.basename(name) === base);
  // Several files of that name would let the server choose.
  return named.length === 1 ? (named[0]?.[1] ?? null) : null;
}
