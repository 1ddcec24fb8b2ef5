/** Certificates of the user's own authorities, without a log or a timestamp. */
import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { fault } from './fault.ts';
import type { ListedSigners, SignerFacts } from './signers.ts';

const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';

export interface CertifiedKey {
  readonly key: KeyObject;
  readonly signer: Extract<SignerFacts, { kind: 'certificate' }>;
}

/** The key of the first certificate, and whether the chain leads to a listed one. Throws signature_invalid. */
export function certifiedKey(
  chain: readonly Buffer[],
  authorities: ListedSigners['authorities'],
  nowMs: number,
): CertifiedKey {
  const [leaf, ...others] = chain.map(parse);
  if (leaf === undefined) throw fault('it has no certificate');
  const { keyUsage } = leaf;
  // Certificates of web servers come from the same authorities.
  if (keyUsage !== undefined && !keyUsage.includes(CODE_SIGNING))
    throw fault('its certificate is not for signing code');
  refuseUntimely(leaf, nowMs);
  const root = findRoot(leaf, others, authorities, nowMs);
  const signer = {
    kind: 'certificate',
    subject: subjectLine(leaf),
    authority: root?.fingerprint ?? null,
  } as const;
  return { key: leaf.publicKey, signer };
}

function findRoot(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  authorities: ListedSigners['authorities'],
  nowMs: number,
): ListedSigners['authorities'][number] | null {
  const own = sha256(leaf.raw);
  const isListed = authorities.find(({ fingerprint }) => fingerprint === own);
  if (isListed !== undefined) return isListed;
  let subject = leaf;
  // Each certificate is visited at most once, so a cycle ends.
  const left = new Set(others);
  while (true) {
    const root = authorities.find(({ certificate }) => hasIssued(certificate, subject));
    if (root !== undefined) {
      refuseUntimely(root.certificate, nowMs);
      return root;
    }
    const issuer = [...left].find((each) => hasIssued(each, subject));
    if (issuer === undefined) return null;
    refuseUntimely(issuer, nowMs);
    left.delete(issuer);
    subject = issuer;
  }
}

function hasIssued(issuer: X509Certificate, subject: X509Certificate): boolean {
  return issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
}

/** The time of signing is unknown, so it counts as signed now. */
function refuseUntimely({ validFrom, validTo }: X509Certificate, nowMs: number): void {
  if (nowMs > Date.parse(validTo))
    throw fault(`its certificate expired on ${formatDay(validTo)}, and nothing shows that it is older`);
  if (nowMs < Date.parse(validFrom)) throw fault(`its certificate is valid from ${formatDay(validFrom)} on`);
}

const formatDay = (text: string): string => new Date(text).toISOString().slice(0, 10);

function parse(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch {
    throw fault('a certificate in it cannot be read');
  }
}

/** On one line, because it is untrusted text. */
const subjectLine = ({ subject }: X509Certificate): string =>
  (subject ?? '').replaceAll('\n', ', ').slice(0, 300);

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
