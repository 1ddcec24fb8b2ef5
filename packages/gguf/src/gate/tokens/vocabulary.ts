/**
 * gguf/gate/tokens owns reading and checking a vocabulary. It knows nothing of tensors or hyperparameters. This file:
 * the token list, read once and reduced to the facts that the checks need. Two equal tokens make llama.cpp abort, so
 * every token is compared; none is kept.
 */
import type { HeaderCursor, Refuse } from '../../format/cursor.ts';
import { TOKEN_TYPE } from '../../format/format.ts';
import { LIMITS } from '../../format/limits.ts';
import { LAST_COMPARED } from '../draft-vocabulary.ts';
import { ByteTokens } from './byte-tokens.ts';
import { getRandomValues } from 'node:crypto';

export interface Vocabulary {
  readonly size: number;
  /** Spellings of the line feed that occur: "Ċ" (byte-level), "<0x0A>" (byte token), "\n". */
  readonly newlines: ReadonlySet<string>;
  readonly first: readonly string[];
  readonly suffixRows: number;
  readonly bytes: ByteTokens;
}

const NEWLINE_SPELLINGS = ['\u010a', '<0x0A>', '\n', '\\n'].map((spelling) => Buffer.from(spelling));

export function emptyVocabulary(): Vocabulary {
  return { size: 0, newlines: new Set(), first: [], suffixRows: 0, bytes: new ByteTokens() };
}

export async function readTokens(cursor: HeaderCursor, count: number, refuse: Refuse): Promise<Vocabulary> {
  if (count > LIMITS.vocabulary)
    refuse(`its vocabulary has ${count} tokens; at most ${LIMITS.vocabulary} are accepted`);
  const seen = new TextSet(count);
  const newlines = new Set<string>();
  const first: string[] = [];
  const byteTokens = new ByteTokens();
  let suffixRows = 0;
  for (let index = 0; index < count; index += 1) {
    // Synchronous within the window: a promise per token would cost more than the token.
    const length = cursor.holds(8) ? cursor.heldLength(TOKEN) : await cursor.length(TOKEN);
    if (length > LIMITS.tokenBytes)
      refuse(`a token is ${length} bytes long; the limit is ${LIMITS.tokenBytes}`);
    if (!cursor.holds(length)) await cursor.need(length, TOKEN);
    const { window } = cursor;
    const start = cursor.pass(length);
    const end = start + length;
    suffixRows += (length * (length + 1)) / 2;
    byteTokens.note(window, start, end, index);
    if (index < LAST_COMPARED) first.push(textStart(window, start, end));
    const newline = NEWLINE_SPELLINGS.find((spelling) => isSame(spelling, window, start, end));
    if (newline !== undefined) newlines.add(newline.toString());
    if (!isNew(seen, index, window, start, textEnd(window, start, end)))
      refuse(`its vocabulary holds the token ${JSON.stringify(textStart(window, start, end))} twice`);
  }
  return { size: count, newlines, first, suffixRows, bytes: byteTokens };
}

export async function readByteTypes(cursor: HeaderCursor, count: number, refuse: Refuse): Promise<number[]> {
  const ids: number[] = [];
  for (let id = 0; id < count; id += 1) {
    if (!cursor.holds(4)) await cursor.need(4, 'the types of tokens');
    if (cursor.u32() !== TOKEN_TYPE.byte) continue;
    if (ids.length === MOST_BYTE_TOKENS)
      refuse(`it has more than ${MOST_BYTE_TOKENS} tokens for single bytes`);
    ids.push(id);
  }
  return ids;
}

const MOST_BYTE_TOKENS = 512;

const TOKEN = 'a token';

const textStart = (bytes: Buffer, start: number, end: number): string =>
  bytes.toString('utf8', start, Math.min(end, start + 40));

function isSame(text: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (text[0] !== bytes[start] || text.length !== end - start) return false;
  return bytes.compare(text, 0, text.length, start, end) === 0;
}

/** llama.cpp reads a token up to its first NUL. */
function textEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== 0) at += 1;
  return at;
}

/** llama.cpp names an empty token after its index. */
function isNew(seen: TextSet, index: number, bytes: Buffer, start: number, end: number): boolean {
  if (end > start) return seen.add(bytes, start, end);
  const name = Buffer.from(`[EMPTY_${index}]`);
  return seen.add(name, 0, name.length);
}

/**
 * Compares 64-bit hashes with a random start: a collision happens in one of a million files with the largest
 * vocabulary, and no file can be crafted to cause one.
 */
const [START_A = 0, START_B = 0] = getRandomValues(new Uint32Array(2));

class TextSet {
  readonly #table: Uint32Array;
  readonly #mask: number;

  constructor(count: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(4, 2 * count)));
    this.#table = new Uint32Array(2 * places);
    this.#mask = places - 1;
  }

  add(bytes: Uint8Array, start: number, end: number): boolean {
    let a = START_A;
    let b = START_B;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number;
      a = Math.imul(a ^ byte, 0x01000193);
      a = (a << 13) | (a >>> 19);
      b = Math.imul(b + byte + 1, 0x85ebca6b);
      b ^= b >>> 15;
    }
    a = Math.imul(a ^ (end - start), 0xcc9e2d51) >>> 0;
    b = (b ^ (a >>> 7)) >>> 0 || 1;
    const table = this.#table;
    for (let place = a & this.#mask; ; place = (place + 1) & this.#mask) {
      const [left, right] = [table[2 * place], table[2 * place + 1]];
      if (left === 0 && right === 0) {
        table[2 * place] = a;
        table[2 * place + 1] = b;
        return true;
      }
      if (left === a && right === b) return false;
    }
  }
}
