import type { Finding } from './check-signatures.ts';
import { type ListedSigners, listedAs, type SignerFacts } from './signers.ts';

export interface FileFinding extends Finding {
  readonly name: string;
}

export interface Verdict {
  readonly state: Finding['state'];
  readonly signer: SignerFacts | null;
  readonly reason: string;
  readonly remedy: string;
}

const WORST_FIRST: readonly Finding['state'][] = ['failed', 'unsigned', 'unlisted', 'trusted'];

export function judge(subject: string, files: readonly FileFinding[]): Verdict {
  const ofState = WORST_FIRST.flatMap((state) => files.filter((file) => file.state === state));
  const [first] = ofState;
  const worst = first?.state === 'unlisted' ? (ofState.find(isUnverified) ?? first) : first;
  const { state = 'unsigned', signer = null } = worst ?? {};
  return {
    state,
    signer,
    reason: reasonFor(subject, worst, files),
    remedy: isUnverified(worst) ? UNVERIFIED : remedyFor(state, signer),
  };
}

/** The signature names no key, so it proves nothing about these bytes. */
const isUnverified = (file: FileFinding | undefined): boolean =>
  file?.state === 'unlisted' && file.signer?.kind === 'key' && file.signer.fingerprint === null;

/** A changed list changes who is trusted, and nothing else. */
export function judged(files: readonly FileFinding[], signers: ListedSigners): FileFinding[] {
  return files.map((file) => {
    if (file.signer === null || file.state === 'failed') return file;
    return { ...file, state: listedAs(signers, file.signer) === null ? 'unlisted' : 'trusted' };
  });
}

function reasonFor(subject: string, worst: FileFinding | undefined, files: readonly FileFinding[]): string {
  switch (worst?.state ?? 'unsigned') {
    case 'trusted':
      return `${subject} is signed by ${allSigners(files)}`;
    case 'unlisted':
      return isUnverified(worst)
        ? `${subject} has a signature that no key in SVC_SIGNERS verifies: it is of another key, or the bytes were changed`
        : `${subject} is signed by ${allSigners(files)}, which SVC_SIGNERS does not list`;
    case 'failed':
      return `the signature ${worst?.signature} of ${subject} does not hold: ${worst?.reason}`;
    case 'unsigned': {
      const isWhole = files.every(({ state }) => state === 'unsigned');
      return `${isWhole ? subject : worst?.name} has no signature`;
    }
  }
}

const allSigners = (files: readonly FileFinding[]): string =>
  [...new Set(files.flatMap(({ signer }) => (signer === null ? [] : [signerWords(signer)])))].join(' and ');

export function signerWords(signer: SignerFacts): string {
  switch (signer.kind) {
    case 'key':
      return signer.fingerprint === null ? 'a key' : `the key ${signer.fingerprint.slice(0, 16)}`;
    case 'certificate':
      return `the certificate ${JSON.stringify(signer.subject)}`;
    case 'identity':
      return `${signer.identity} (attested by ${signer.issuer})`;
  }
}

const UNVERIFIED =
  'if you trust the signer, add the file of the public key to SVC_SIGNERS; if the key is there, get its files again from its maker';

function remedyFor(state: Finding['state'], signer: SignerFacts | null): string {
  switch (state) {
    case 'failed':
      return 'get its files again from its maker';
    case 'unsigned':
      return 'choose a signed model, or install it with SVC_SIGNATURES=warn';
    default:
      return signer?.kind === 'identity'
        ? `if you trust it, add "${signer.identity} ${signer.issuer}" to SVC_SIGNERS`
        : 'if you trust it, add the file of its public key or certificate to SVC_SIGNERS';
  }
}
