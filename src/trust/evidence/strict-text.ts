/**
 * Parses proofs, records, cards, requests and key histories, the same in every reader. Refuses what two parsers could read
 * differently with `invalid_json`. Pure.
 */
import { fail } from '../../lib/errors/svc-error.ts';
import { JSON_LIMITS } from '../../lib/json/json-scan.ts';
import { parseJson } from '../../lib/json/strict-json.ts';

/** Answers have more values than requests: log probabilities, vectors. */
const LIMITS = { ...JSON_LIMITS, tokens: 2_000_000, numbers: 100_000 };

export const parseStrictly = (text: string | Buffer): unknown =>
  parseJson(typeof text === 'string' ? Buffer.from(text) : text, undefined, LIMITS);

/** Keeps a byte order mark, which is no JSON. */
export function decodeStrictly(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw fail('invalid_json', { reason: 'it is not valid UTF-8' }, cause);
  }
}
