/**
 * lib/json owns reading JSON from strangers: strict grammar (RFC 8259), UTF-8, and limits that keep a hostile document
 * cheap, all checked before anything is parsed. It knows nothing of where the bytes come from. Duplicate keys and
 * `__proto__` are refused, because two readers could disagree on them; so are numbers that JSON.parse would turn into
 * Infinity. Reasons name a byte offset, never the text, so no prompt reaches a log.
 */
import { isUtf8 } from 'node:buffer';
import { fail, type SvcError } from '../../lib/errors/svc-error.ts';
import type { KnownMember, KnownValue } from './known-member.ts';

export const JSON_LIMITS = { depth: 64, tokens: 100_000 } as const;

interface Cursor {
  readonly bytes: Buffer;
  at: number;
  tokens: number;
  readonly shared: KnownMember | undefined;
  /** Where the value of the shared member stands. */
  place?: Place;
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  readonly known: KnownValue | undefined;
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

/**
 * Parses a JSON document, or throws invalid_json with the reason. The value of a `shared` member of the outermost object
 * is not read again where the same bytes were read before: it is the same frozen value.
 */
export function parseJson(bytes: Buffer, shared?: KnownMember): unknown {
  if (!isUtf8(bytes)) throw unusable('it is not valid UTF-8');
  const cursor: Cursor = { bytes, at: 0, tokens: 0, shared };
  skipSpace(cursor);
  if (cursor.at >= bytes.length) throw unusable('it is empty');
  scanValue(cursor, 0);
  skipSpace(cursor);
  if (cursor.at < bytes.length) throw unexpected(cursor);
  const { place } = cursor;
  if (shared === undefined || place === undefined) return JSON.parse(bytes.toString('utf8'));
  return place.known === undefined
    ? readFirst(bytes, place, shared)
    : readAgain(bytes, place, { name: shared.name, value: place.known.value });
}

function readFirst(bytes: Buffer, { start, end, tokens }: Place, shared: KnownMember): unknown {
  const document = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
  shared.remember(bytes.subarray(start, end), document[shared.name], tokens);
  return document;
}

function readAgain(
  bytes: Buffer,
  { start, end }: Place,
  { name, value }: { readonly name: string; readonly value: unknown },
): unknown {
  // Its place among the members stays.
  const text = `${bytes.toString('utf8', 0, start)}null${bytes.toString('utf8', end)}`;
  const document = JSON.parse(text) as Record<string, unknown>;
  document[name] = value;
  return document;
}

const unusable = (reason: string): SvcError => fail('invalid_json', { reason });
const tooMany = (): SvcError => unusable(`it has more than ${JSON_LIMITS.tokens} values`);

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
  if (cursor.tokens > JSON_LIMITS.tokens) throw tooMany();
  const byte = cursor.bytes[cursor.at];
  if (byte === QUOTE) scanString(cursor);
  else if (byte === OPEN_BRACE) scanObject(cursor, depth);
  else if (byte === OPEN_BRACKET) scanArray(cursor, depth);
  else if (!scanWord(cursor)) scanNumber(cursor);
}

function scanObject(cursor: Cursor, depth: number): void {
  const keys = new Keys(cursor.bytes);
  cursor.at += 1;
  skipSpace(cursor);
  if (take(cursor, CLOSE_BRACE)) return;
  while (true) {
    if (cursor.bytes[cursor.at] !== QUOTE) throw unexpected(cursor);
    const start = cursor.at;
    scanString(cursor);
    keys.note(start + 1, cursor.at - 1);
    skipSpace(cursor);
    if (!take(cursor, COLON)) throw unexpected(cursor);
    skipSpace(cursor);
    if (depth === 0 && isShared(cursor, start)) scanShared(cursor);
    else scanValue(cursor, depth + 1);
    skipSpace(cursor);
    if (take(cursor, CLOSE_BRACE)) return;
    if (!take(cursor, COMMA)) throw unexpected(cursor);
    skipSpace(cursor);
  }
}

/** A key with an escape is another way to write it, and its value is read like any other. */
function isShared({ bytes, shared }: Cursor, start: number): boolean {
  if (shared === undefined) return false;
  const end = start + 1 + shared.name.length;
  return bytes[end] === QUOTE && bytes.toString('utf8', start + 1, end) === shared.name;
}

function scanShared(cursor: Cursor): void {
  const { bytes, at: start, tokens, shared } = cursor;
  const known = shared?.at(bytes, start);
  if (known === undefined) {
    scanValue(cursor, 1);
  } else {
    cursor.at += known.bytes.length;
    cursor.tokens += known.tokens;
    if (cursor.tokens > JSON_LIMITS.tokens) throw tooMany();
  }
  cursor.place = { start, end: cursor.at, tokens: cursor.tokens - tokens, known };
}

const FEW_KEYS = 16;
const PROTO = '__proto__';

/** The keys of one object. A few without escapes are compared as they stand in the bytes, which makes no strings. */
class Keys {
  readonly #bytes: Buffer;
  /** Start and end of each, without its quotes. */
  readonly #places: number[] = [];
  #texts: Set<string> | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  note(start: number, end: number): void {
    const isFew = this.#texts === undefined && this.#places.length < 2 * FEW_KEYS;
    if (isFew && !this.#hasEscape(start, end)) return this.#notePlace(start, end);
    this.#texts ??= this.#decoded();
    const key = this.#text(start, end);
    if (key === PROTO) throw namesProto();
    if (this.#texts.has(key)) throw namesTwice();
    this.#texts.add(key);
  }

  #notePlace(start: number, end: number): void {
    const places = this.#places;
    if (end - start === PROTO.length && this.#text(start, end) === PROTO) throw namesProto();
    for (let i = 0; i < places.length; i += 2)
      if (this.#isSame(places[i] as number, places[i + 1] as number, start, end)) throw namesTwice();
    places.push(start, end);
  }

  #isSame(one: number, oneEnd: number, other: number, otherEnd: number): boolean {
    if (oneEnd - one !== otherEnd - other) return false;
    for (let at = other; at < otherEnd; at += 1)
      if (this.#bytes[at] !== this.#bytes[one + at - other]) return false;
    return true;
  }

  #hasEscape(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) if (this.#bytes[at] === BACKSLASH) return true;
    return false;
  }

  #decoded(): Set<string> {
    const texts = new Set<string>();
    for (let i = 0; i < this.#places.length; i += 2)
      texts.add(this.#text(this.#places[i] as number, this.#places[i + 1] as number));
    return texts;
  }

  /** Escapes are decoded, or "\u0061" and "a" would count as two keys. */
  #text(start: number, end: number): string {
    const written = this.#bytes.toString('utf8', start, end);
    return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
  }
}

const namesProto = (): SvcError => unusable('the key "__proto__" is not allowed');
const namesTwice = (): SvcError => unusable('an object names the same key twice');

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
  const { length } = bytes;
  // A variable of its own: most of a request is the characters of strings.
  let at = cursor.at + 1;
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      cursor.at = at + 1;
      return;
    }
    if (byte < 0x20 || byte === BACKSLASH) {
      cursor.at = at;
      if (byte !== BACKSLASH) throw unexpected(cursor);
      at += escapeLength(cursor);
    } else {
      at += 1;
    }
  }
  cursor.at = at;
  throw unexpected(cursor);
}

function escapeLength(cursor: Cursor): number {
  const next = String.fromCharCode(cursor.bytes[cursor.at + 1] ?? 0);
  if ('"\\/bfnrt'.includes(next)) return 2;
  const digits = cursor.bytes.toString('latin1', cursor.at + 2, cursor.at + 6);
  if (next === 'u' && /^[0-9a-fA-F]{4}$/.test(digits)) return 6;
  throw unexpected(cursor);
}

const WORDS: readonly (readonly number[])[] = ['true', 'false', 'null'].map((word) => [...Buffer.from(word)]);

function scanWord(cursor: Cursor): boolean {
  const { bytes, at } = cursor;
  const word = WORDS.find((letters) => letters.every((letter, index) => bytes[at + index] === letter));
  if (word === undefined) return false;
  cursor.at += word.length;
  return true;
}

function scanNumber(cursor: Cursor): void {
  const text = cursor.bytes.toString('latin1', cursor.at, cursor.at + LONGEST_NUMBER);
  NUMBER_PATTERN.lastIndex = 0;
  const match = NUMBER_PATTERN.exec(text)?.[0];
  if (!match) throw unexpected(cursor);
  if (!Number.isFinite(Number(match))) throw unusable(`the number at byte ${cursor.at} is too large`);
  cursor.at += match.length;
}
