/**
 * lib/json owns parsing untrusted JSON: strict grammar (RFC 8259), UTF-8, and limits that keep a hostile document
 * cheap, checked before anything is parsed. It knows nothing of the source of the bytes. Duplicate keys and
 * `__proto__` are refused, because two readers could disagree on them; so are numbers that JSON.parse would turn into
 * Infinity. Reasons name a byte offset, never the text, so no prompt reaches a log.
 */
import { fail } from '../../lib/errors/svc-error.ts';
import { JSON_LIMITS, type JsonLimits, JsonScan, type SharedPlace } from './json-scan.ts';
import type { KnownMember } from './known-member.ts';
import { parseSpelled } from './parse-spelled.ts';

/**
 * Also records the spelling of numbers; throws invalid_json with the reason. If a top-level `shared` member has bytes
 * that were parsed before, its value is the same frozen object.
 */
export function parseJson(bytes: Buffer, shared?: KnownMember, limits: JsonLimits = JSON_LIMITS): unknown {
  const scan = new JsonScan(bytes, { shared, limits });
  scan.advance(bytes.length);
  const { place } = scan;
  if (shared === undefined || place === undefined) return parsed(bytes.toString('utf8'));
  return place.known === undefined
    ? readFirst(bytes, place, shared)
    : readAgain(bytes, place, { name: shared.name, value: place.known.value });
}

function readFirst(bytes: Buffer, { start, end, tokens }: SharedPlace, shared: KnownMember): unknown {
  const document = parsed(bytes.toString('utf8')) as Record<string, unknown>;
  shared.remember(bytes.subarray(start, end), document[shared.name], tokens);
  return document;
}

function readAgain(
  bytes: Buffer,
  { start, end }: SharedPlace,
  { name, value }: { readonly name: string; readonly value: unknown },
): unknown {
  // null keeps its place among the members.
  const text = `${bytes.toString('utf8', 0, start)}null${bytes.toString('utf8', end)}`;
  const document = parsed(text) as Record<string, unknown>;
  document[name] = value;
  return document;
}

function parsed(text: string): unknown {
  try {
    return parseSpelled(text);
  } catch (error) {
    throw fail('invalid_json', { reason: 'a string holds a control character' }, error);
  }
}
