/**
 * One file with everything that a check needs: a record, its request, and the key that the sender claims for the
 * issuer.
 */

export interface ProofFile {
  readonly record: string;
  readonly request: string | null;
  /** PEM, or a key history. It is unauthenticated: the file cannot vouch for it. */
  readonly publicKey: string | null;
}

const OBJECT = 'svc.proof';
const BEGINNING = /^\s*\{\s*"object"\s*:\s*"svc\.proof"/;

export function proofFileText({ record, request, publicKey }: ProofFile): string {
  return `${JSON.stringify({ object: OBJECT, record, request, public_key: publicKey }, null, 1)}\n`;
}

export function readProofFile(text: string): ProofFile | null {
  if (!BEGINNING.test(text)) return null;
  const members = parsed(text);
  const readText = (name: string): string | null =>
    typeof members[name] === 'string' ? members[name] : null;
  const record = readText('record');
  return record === null ? null : { record, request: readText('request'), publicKey: readText('public_key') };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
