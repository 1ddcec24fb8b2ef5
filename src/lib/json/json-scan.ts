/**
 * Scans a JSON document in resumable steps: grammar, limits, duplicate keys. It creates no values unless `values` is
 * given.
 */
import { isUtf8 } from 'node:buffer';
import type { SvcError } from '../errors/svc-error.ts';
import { JsonKeys, unusable } from './json-keys.ts';
import type { JsonValues } from './json-values.ts';
import type { KnownMember, KnownValue } from './known-member.ts';

export interface JsonLimits {
  readonly depth: number;
  readonly tokens: number;
  /** Numbers at the start of each list that do not count, because they take far less memory than other values. */
  readonly numbers?: number;
}

export const JSON_LIMITS = { depth: 64, tokens: 100_000 } as const satisfies JsonLimits;

const code = (text: string): number => text.charCodeAt(0);
const QUOTE = code('"');
const BACKSLASH = code('\\');
const OPEN_BRACE = code('{');
const CLOSE_BRACE = code('}');
const OPEN_BRACKET = code('[');
const CLOSE_BRACKET = code(']');
const COLON = code(':');
const COMMA = code(',');
const LETTER_U = code('u');
const SHORT_ESCAPES = new Set(Buffer.from('"\\/bfnrt'));
const WORDS: ReadonlyMap<number, { readonly word: Buffer; readonly value: unknown }> = new Map(
  [true, false, null].map((value) => [code(String(value)), { word: Buffer.from(String(value)), value }]),
);
const IN_NUMBERS = new Set(Buffer.from('+-.0123456789Ee'));
const NUMBER_PATTERN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LONGEST_NUMBER = 400;
const IN_NUMBER_LISTS = Uint8Array.from({ length: 256 }, (_, byte) =>
  IN_NUMBERS.has(byte) || byte === COMMA || byte === 0x20 ? 1 : 0,
);
/** Parsing a shorter run one by one is as fast. */
const WORTH_A_RUN = 64;
/** Bytes of a string checked one by one; for longer strings a search for the end is faster. */
const NEAR_BYTES = 256;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'more' | 'the rest of a string';

export interface SharedPlace {
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  readonly known: KnownValue | undefined;
}

interface ScanOptions {
  readonly shared?: KnownMember | undefined;
  readonly values?: JsonValues;
  readonly limits?: JsonLimits;
  readonly takesAnyKeys?: boolean;
  readonly isChecked?: boolean;
}

type Keys = Pick<JsonKeys, 'note'>;
const ANY_KEYS: Keys = { note: () => {} };

export function requireUtf8(isValid: boolean): void {
  if (!isValid) throw unusable('it is not valid UTF-8');
}

export class JsonScan {
  readonly #bytes: Buffer;
  readonly #shared: KnownMember | undefined;
  readonly #values: JsonValues | undefined;
  readonly #limits: JsonLimits;
  readonly #takesAnyKeys: boolean;
  place: SharedPlace | undefined;
  #isShared = false;
  #sharedFrom: { readonly start: number; readonly tokens: number } | undefined;
  #at = 0;
  #tokens = 0;
  #uncounted = 0;
  #stop = 0;
  #expected: Expected = 'value';
  readonly #open: (Keys | null)[] = [];
  #stringAt = 0;
  #isKey = false;
  /** Next quote and next backslash of the last search; valid until passed. */
  #quoteAt = -1;
  #backslashAt = -1;

  constructor(
    bytes: Buffer,
    { shared, values, limits = JSON_LIMITS, takesAnyKeys = false, isChecked = false }: ScanOptions = {},
  ) {
    this.#bytes = bytes;
    this.#shared = shared;
    this.#values = values;
    this.#limits = limits;
    this.#takesAnyKeys = takesAnyKeys;
    if (!isChecked) requireUtf8(isUtf8(bytes));
  }

  /** Scans up to `end`; true when the document is complete, which any `end` from its length on guarantees. */
  advance(end: number): boolean {
    const stop = Math.min(end, this.#bytes.length);
    this.#stop = stop;
    while (this.#at < stop) {
      const byte = this.#bytes[this.#at] as number;
      if (this.#expected === 'the rest of a string') this.#string(stop);
      else if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) this.#at += 1;
      else if (this.#expected === 'more') this.#more(byte);
      else if (this.#expected === 'colon') this.#colon(byte);
      else if (this.#expected === 'key' || this.#expected === 'key or }') this.#key(byte);
      else if (byte === CLOSE_BRACKET && this.#expected === 'value or ]') this.#close();
      else this.#value(byte);
    }
    if (end < this.#bytes.length) return false;
    if (this.#tokens === 0) throw unusable('it is empty');
    if (this.#open.length > 0 || this.#expected !== 'more') throw this.#unexpected();
    return true;
  }

  #value(byte: number): void {
    if (this.#open.length > this.#limits.depth)
      throw unusable(`it is nested deeper than ${this.#limits.depth} levels`);
    if (this.#isShared && this.#passesKnown(byte)) return;
    if (this.#uncounted > 0 && IN_NUMBERS.has(byte)) return this.#uncountedNumbers();
    this.#countTokens(1);
    if (byte === QUOTE) {
      this.#beginString(false);
    } else if (byte === OPEN_BRACE) {
      this.#opens(this.#takesAnyKeys ? ANY_KEYS : new JsonKeys(this.#bytes), 'key or }');
      this.#values?.opens({});
    } else if (byte === OPEN_BRACKET) {
      this.#opens(null, 'value or ]');
      this.#values?.opens([]);
    } else {
      if (!this.#word(byte)) this.#number();
      this.#expected = 'more';
    }
  }

  #countTokens(count: number): void {
    this.#tokens += count;
    if (this.#tokens > this.#limits.tokens) throw unusable(`it has more than ${this.#limits.tokens} values`);
  }

  #passesKnown(byte: number): boolean {
    this.#isShared = false;
    const start = this.#at;
    const known = this.#shared?.at(this.#bytes, start);
    if (known !== undefined) {
      this.#countTokens(known.tokens);
      this.#at += known.bytes.length;
      this.place = { start, end: this.#at, tokens: known.tokens, known };
      this.#values?.put(known.value);
      this.#expected = 'more';
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      this.#sharedFrom = { start, tokens: this.#tokens };
    }
    return known !== undefined;
  }

  #opens(keys: Keys | null, expected: Expected): void {
    this.#open.push(keys);
    this.#uncounted = keys === null ? (this.#limits.numbers ?? 0) : 0;
    this.#at += 1;
    this.#expected = expected;
  }

  #close(): void {
    this.#open.pop();
    this.#uncounted = 0;
    this.#values?.closes();
    this.#at += 1;
    this.#expected = 'more';
    const from = this.#sharedFrom;
    if (from === undefined || this.#open.length > 1) return;
    this.place = { start: from.start, end: this.#at, tokens: this.#tokens - from.tokens, known: undefined };
    this.#sharedFrom = undefined;
  }

  #key(byte: number): void {
    if (byte === CLOSE_BRACE && this.#expected === 'key or }') return this.#close();
    if (byte !== QUOTE) throw this.#unexpected();
    this.#beginString(true);
  }

  #colon(byte: number): void {
    if (byte !== COLON) throw this.#unexpected();
    this.#at += 1;
    this.#expected = 'value';
  }

  #more(byte: number): void {
    const keys = this.#open.at(-1);
    if (keys === undefined) throw this.#unexpected();
    if (byte === (keys === null ? CLOSE_BRACKET : CLOSE_BRACE)) return this.#close();
    if (byte !== COMMA) throw this.#unexpected();
    this.#at += 1;
    this.#expected = keys === null ? 'value' : 'key';
  }

  #beginString(isKey: boolean): void {
    this.#isKey = isKey;
    this.#at += 1;
    this.#stringAt = this.#at;
    this.#expected = 'the rest of a string';
    this.#values?.beginString(this.#at);
  }

  #string(stop: number): void {
    const bytes = this.#bytes;
    // Local copies for speed: most of a request is characters in strings.
    let at = this.#at;
    let searchAt = at + NEAR_BYTES;
    while (at < stop) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) return this.#endString(at);
      if (byte === BACKSLASH) {
        at += this.#escapeLength(at);
        searchAt = at + NEAR_BYTES;
      } else if (byte < 0x20) {
        throw this.#unexpected(at);
      } else {
        at = at < searchAt ? at + 1 : Math.min(stop, this.#nextMark(at));
      }
    }
    this.#at = at;
    if (at < bytes.length) this.#values?.takeUpTo(at);
  }

  #endString(at: number): void {
    this.#at = at + 1;
    this.#values?.endString(at, this.#isKey);
    if (this.#isKey) {
      this.#open.at(-1)?.note(this.#stringAt, at);
      this.#isShared = this.#open.length === 1 && this.#isSharedName(this.#stringAt, at);
    }
    this.#expected = this.#isKey ? 'colon' : 'more';
  }

  /** A name with an escape does not match, and its value is parsed normally. */
  #isSharedName(start: number, end: number): boolean {
    const name = this.#shared?.name;
    return name?.length === end - start && this.#bytes.toString('latin1', start, end) === name;
  }

  #nextMark(from: number): number {
    if (this.#quoteAt < from) this.#quoteAt = this.#findPlace(QUOTE, from);
    if (this.#backslashAt < from) this.#backslashAt = this.#findPlace(BACKSLASH, from);
    return Math.min(this.#quoteAt, this.#backslashAt);
  }

  #findPlace(byte: number, from: number): number {
    const at = this.#bytes.indexOf(byte, from);
    return at === -1 ? this.#bytes.length : at;
  }

  #escapeLength(at: number): number {
    const next = this.#bytes[at + 1] ?? 0;
    if (SHORT_ESCAPES.has(next)) return 2;
    if (next !== LETTER_U) throw this.#unexpected(at);
    for (let digit = at + 2; digit < at + 6; digit += 1)
      if (!isHex(this.#bytes[digit])) throw this.#unexpected(at);
    return 6;
  }

  #word(byte: number): boolean {
    const known = WORDS.get(byte);
    if (known === undefined || !known.word.every((letter, index) => this.#bytes[this.#at + index] === letter))
      return false;
    this.#at += known.word.length;
    this.#values?.put(known.value);
    return true;
  }

  #number(): void {
    let end = this.#at;
    while (end < this.#at + LONGEST_NUMBER && IN_NUMBERS.has(this.#bytes[end] ?? 0)) end += 1;
    NUMBER_PATTERN.lastIndex = 0;
    const match = NUMBER_PATTERN.exec(this.#bytes.toString('latin1', this.#at, end))?.[0];
    if (!match) throw this.#unexpected();
    const value = Number(match);
    if (!Number.isFinite(value)) throw unusable(`the number at byte ${this.#at} is too large`);
    this.#at += match.length;
    this.#values?.putNumber(value, match);
  }

  #uncountedNumbers(): void {
    const run = this.#numberRun();
    this.#uncounted -= run === null ? 1 : run.length;
    if (run === null) this.#number();
    else this.#values?.putAll(run);
    this.#expected = 'more';
  }

  #numberRun(): readonly number[] | null {
    const from = this.#at;
    // A number takes at least two bytes with its comma.
    const stop = Math.min(this.#stop, from + this.#uncounted * 2);
    let end = from;
    while (end < stop && IN_NUMBER_LISTS[this.#bytes[end] as number] === 1) end += 1;
    const comma = end > from ? this.#bytes.lastIndexOf(COMMA, end - 1) : -1;
    if (comma < from + WORTH_A_RUN) return null;
    const run = parseNumbers(this.#bytes.toString('latin1', from, comma));
    if (run !== null) this.#at = comma;
    return run;
  }

  #unexpected(at = this.#at): SvcError {
    return unusable(
      at >= this.#bytes.length ? 'it ends unexpectedly' : `there is an unexpected character at byte ${at}`,
    );
  }
}

function isHex(byte = 0): boolean {
  const letter = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}

function parseNumbers(list: string): readonly number[] | null {
  try {
    const numbers = JSON.parse(`[${list}]`) as number[];
    return numbers.every(Number.isFinite) ? numbers : null;
  } catch {
    return null;
  }
}
