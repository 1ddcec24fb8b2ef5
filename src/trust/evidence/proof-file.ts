/** One file with all that a check needs: a record, its request, and the key that the sender names as the issuer's. Pure. */
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { isSvcError } from '../../lib/errors/svc-error.ts';
import { parseStrictly } from './strict-text.ts';

export interface ProofFile {
  readonly record: string;
  readonly request: string | null;
  /** PEM, or a key history. It is unauthenticated: the file cannot vouch for it. */
  readonly publicKey: string | null;
}

const OBJECT = 'svc.proof';
const OrNull = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Members = Type.Object({
  object: Type.Literal(OBJECT),
  record: Type.String(),
  request: OrNull,
  public_key: OrNull,
});
const BEGINNING = /^\s*\{\s*"object"\s*:\s*"svc\.proof"/;

export function proofFileText({ record, request, publicKey }: ProofFile): string {
  return `${JSON.stringify({ object: OBJECT, record, request, public_key: publicKey }, null, 1)}\n`;
}

export function readProofFile(text: string): ProofFile | null {
  if (!BEGINNING.test(text)) return null;
  const value = parsed(text);
  if (!Check(Members, value)) return null;
  const { record, request = null, public_key: publicKey = null } = value;
  return { record, request, publicKey };
}

function parsed(text: string): unknown {
  try {
    return parseStrictly(text);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return null;
  }
}
