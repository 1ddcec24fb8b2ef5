/** Shortened conversations as text that clients send back: encoded, not encrypted. */
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { Turn } from '../../../contract/job.ts';

const Turns = Type.Array(Turn);

/** Distinguishes our encoding from another provider's, which only it can read. */
const SEAL = 'svc1.';

export const sealText = (text: string): string => SEAL + Buffer.from(text, 'utf8').toString('base64url');

export function openSealed(sealed: string): string {
  if (!sealed.startsWith(SEAL)) return '';
  return Buffer.from(sealed.slice(SEAL.length), 'base64url').toString('utf8');
}

export const sealTurns = (turns: readonly Turn[]): string => sealText(JSON.stringify(turns));

export function openTurns(sealed: unknown): Turn[] | null {
  if (typeof sealed !== 'string') return null;
  try {
    const turns: unknown = JSON.parse(openSealed(sealed), (_, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    );
    return Check(Turns, turns) && turns.every(({ role }) => role !== 'system') ? turns : null;
  } catch {
    return null;
  }
}
