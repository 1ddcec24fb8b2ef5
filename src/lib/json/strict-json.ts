/**
 * lib/json owns reading JSON from strangers: strict grammar (RFC 8259), UTF-8, and limits that keep a hostile document
 * cheap, all checked before anything is parsed. It knows nothing of where the bytes come from. Duplicate keys and
 * `__proto__` are refused, because two readers could disagree on them; so are numbers that JSON.parse would turn into
 * Infinity. Reasons name a byte offset, never the text, so no prompt reaches a log.
 */
import { isUtf8 } from 'node:buffer';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';

export const JSON_LIMITS = { depth: 64, tokens: 100_000 } as const;

interface Cursor {
  readonly bytes: Buffer;
  at: number;
  tokens: number;
}

const code = (text: string): number => text.charCodeAt(0);
const QUOTE = code('"');
const BACKSLASH = code('\\');
const OPEN_BRACE = code('{');
const CLOSE_BRACE = code('}');
const OPEN_BRACKET = code('[');
const CLOSE_BRACKET = code(']');
const COLON = code(':');
const COMMA = code(',');
const NUMBER_PATTERN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LONGEST_NUMBER = 400;

/** Parses a JSON document, or throws invalid_json with the reason. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw unusable('it is not valid UTF-8');
  const cursor: Cursor = { bytes, at: 0, tokens: 0 };
  skipSpace(cursor);
  if (cursor.at >= bytes.length) throw unusable('it is empty');
  scanValue(cursor, 0);
  skipSpace(cursor);
  if (cursor.at < bytes.length) throw unexpected(cursor);
  return JSON.parse(bytes.toString('utf8'));
}

const unusable = (reason: string): SvcError => fail('invalid_json', { reason });

function unexpected(cursor: Cursor): SvcError {
  return unusable(
    cursor.at >= cursor.bytes.length
      ? 'it ends unexpectedly'
      : `there is an unexpected character at byte ${cursor.at}`,
  );
}

function skipSpace(cursor: Cursor): void {
  const { bytes } = cursor;
  while (cursor.at < bytes.length) {
    const byte = bytes[cursor.at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
    cursor.at += 1;
  }
}

function scanValue(cursor: Cursor, depth: number): void {
  if (depth > JSON_LIMITS.depth) throw unusable(`it is nested deeper than ${JSON_LIMITS.depth} levels`);
  cursor.tokens += 1;
  if (cursor.tokens > JSON_LIMITS.tokens) throw unusable(`it has more than ${JSON_LIMITS.tokens} values`);
  const byte = cursor.bytes[cursor.at];
  if (byte === QUOTE) scanString(cursor);
  else if (byte === OPEN_BRACE) scanObject(cursor, depth);
  else if (byte === OPEN_BRACKET) scanArray(cursor, depth);
  else if (!scanWord(cursor)) scanNumber(cursor);
}

function scanObject(cursor: Cursor, depth: number): void {
  const keys = new Set<string>();
  cursor.at += 1;
  skipSpace(cursor);
  if (take(cursor, CLOSE_BRACE)) return;
  while (true) {
    if (cursor.bytes[cursor.at] !== QUOTE) throw unexpected(cursor);
    const start = cursor.at;
    scanString(cursor);
    noteKey(keys, cursor.bytes.toString('utf8', start, cursor.at));
    skipSpace(cursor);
    if (!take(cursor, COLON)) throw unexpected(cursor);
    skipSpace(cursor);
    scanValue(cursor, depth + 1);
    skipSpace(cursor);
    if (take(cursor, CLOSE_BRACE)) return;
    if (!take(cursor, COMMA)) throw unexpected(cursor);
    skipSpace(cursor);
  }
}

function noteKey(keys: Set<string>, quoted: string): void {
  // Escapes are decoded first, or "\u0061" and "a" would count as two keys.
  const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  if (key === '__proto__') throw unusable('the key "__proto__" is not allowed');
  if (keys.has(key)) throw unusable('an object names the same key twice');
  keys.add(key);
}

function scanArray(cursor: Cursor, depth: number): void {
  cursor.at += 1;
  skipSpace(cursor);
  if (take(cursor, CLOSE_BRACKET)) return;
  while (true) {
    scanValue(cursor, depth + 1);
    skipSpace(cursor);
    if (take(cursor, CLOSE_BRACKET)) return;
    if (!take(cursor, COMMA)) throw unexpected(cursor);
    skipSpace(cursor);
  }
}

function take(cursor: Cursor, byte: number): boolean {
  if (cursor.bytes[cursor.at] !== byte) return false;
  cursor.at += 1;
  return true;
}

function scanString(cursor: Cursor): void {
  const { bytes } = cursor;
  cursor.at += 1;
  while (cursor.at < bytes.length) {
    const byte = bytes[cursor.at] as number;
    if (byte === QUOTE) {
      cursor.at += 1;
      return;
    }
    if (byte < 0x20) throw unexpected(cursor);
    cursor.at += byte === BACKSLASH ? escapeLength(cursor) : 1;
  }
  throw unexpected(cursor);
}

function escapeLength(cursor: Cursor): number {
  const next = String.fromCharCode(cursor.bytes[cursor.at + 1] ?? 0);
  if ('"\\/bfnrt'.includes(next)) return 2;
  const digits = cursor.bytes.toString('latin1', cursor.at + 2, cursor.at + 6);
  if (next === 'u' && /^[0-9a-fA-F]{4}$/.test(digits)) return 6;
  throw unexpected(cursor);
}

function scanWord(cursor: Cursor): boolean {
  for (const word of ['true', 'false', 'null']) {
    if (cursor.bytes.toString('latin1', cursor.at, cursor.at + word.length) === word) {
      cursor.at += word.length;
      return true;
    }
  }
  return false;
}

function scanNumber(cursor: Cursor): void {
  const text = cursor.bytes.toString('latin1', cursor.at, cursor.at + LONGEST_NUMBER);
  NUMBER_PATTERN.lastIndex = 0;
  const match = NUMBER_PATTERN.exec(text)?.[0];
  if (!match) throw unexpected(cursor);
  if (!Number.isFinite(Number(match))) throw unusable(`the number at byte ${cursor.at} is too large`);
  cursor.at += match.length;
}
