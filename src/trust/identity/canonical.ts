/** Canonical JSON (RFC 8785), in which equal values have equal bytes, and digests over it. */
import { createHash } from 'node:crypto';
import { canonicalize } from '../../lib/json/canonicalize.ts';
import { fail } from '../../lib/errors/svc-error.ts';

const MAX_DEPTH = 128;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Throws for values without a single canonical form (I-JSON, RFC 7493): numbers beyond 2^53, non-finite numbers, lone
 * surrogates. Duplicate keys disappear in parsing, so the scanner of the raw bytes refuses those.
 */
export function assertIJson(value: unknown, path = '$', depth = 0): void {
  if (depth > MAX_DEPTH) throw refuse(path, `it is nested deeper than ${MAX_DEPTH} levels`);
  switch (typeof value) {
    case 'string':
      if (LONE_SURROGATE.test(value)) throw refuse(path, 'it holds a lone surrogate');
      return;
    case 'number':
      if (!Number.isFinite(value)) throw refuse(path, 'it is a number too large for JSON');
      if (Math.abs(value) >= 2 ** 53) throw refuse(path, 'it is a number of 2^53 or more');
      return;
    case 'boolean':
      return;
    case 'object':
      if (value === null) return;
      if (Array.isArray(value)) {
        value.forEach((item, index) => {
          assertIJson(item, `${path}[${index}]`, depth + 1);
        });
        return;
      }
      for (const [key, member] of Object.entries(value)) {
        if (LONE_SURROGATE.test(key)) throw refuse(path, 'it has a key with a lone surrogate');
        assertIJson(member, `${path}.${shown(key)}`, depth + 1);
      }
      return;
    default:
      throw refuse(path, `it is ${typeof value}, which JSON does not have`);
  }
}

export function canonicalJson(value: unknown): string {
  assertIJson(value);
  const text = canonicalize(value);
  if (text === undefined) throw refuse('$', 'it is not a JSON value');
  return text;
}

export function sha256Hex(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

export const canonicalSha256 = (value: unknown): string => sha256Hex(canonicalJson(value));

/** Keys come from clients, and messages reach logs, so only plain names are quoted. */
const shown = (key: string): string => (/^[A-Za-z_]\w{0,31}$/.test(key) ? key : '?');

const refuse = (path: string, reason: string): Error =>
  fail('invalid_json', {
    param: path.slice(0, 200),
    reason: `${path.slice(0, 200)} has no canonical form, because ${reason}`,
  });
