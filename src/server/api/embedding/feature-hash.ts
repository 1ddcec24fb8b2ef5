/**
 * The feature-hash fallback, version 1: a deterministic vector from words and character trigrams, without meaning. It
 * lets a user build and test an index without a model, if the operator allows it. docs/feature-hash.md defines it and
 * lists test vectors; any change is a new version.
 */
import { EMBEDDING_WIDTH, FEATURE_HASH_MODEL } from '../../../contract/limits.ts';
import { normalise } from '../../../lib/base/vector.ts';

export const FEATURE_HASH_VERSION = `${FEATURE_HASH_MODEL}@1`;
const TRIGRAM_WEIGHT = 0.5;

const WORD = /[\p{L}\p{N}]+/gu;
const STRETCH = 32_768;

/** Awaited at intervals, because a large text takes long; it may throw to stop the work. */
export type Pause = () => Promise<unknown>;

export async function featureHash(text: string, pause: Pause): Promise<Float32Array> {
  const vector = new Float32Array(EMBEDDING_WIDTH);
  for await (const words of stretches(text.normalize('NFC').toLowerCase(), pause))
    for (const each of words) for (const _ of addWord(vector, each)) await pause();
  // Text without words, and features that cancel out exactly, still need a direction of their own.
  if (vector.every((value) => value === 0)) for (const _ of addRest(vector, text)) await pause();
  return normalise(vector);
}

export async function featureCount(text: string, pause: Pause): Promise<number> {
  let count = 0;
  for await (const words of stretches(text.normalize('NFC'), pause)) count += words.length;
  return Math.max(1, count);
}

async function* stretches(text: string, pause: Pause): AsyncGenerator<readonly string[], void, void> {
  let words: string[] = [];
  let begin = 0;
  for (const match of text.matchAll(WORD)) {
    words.push(match[0]);
    if (match.index - begin < STRETCH) continue;
    yield words;
    await pause();
    words = [];
    begin = match.index;
  }
  yield words;
}

const wordHash = fnv1a('w:');
const trigramHash = fnv1a('t:');
const restHash = fnv1a('r:');

function* addWord(vector: Float32Array, text: string): Generator<void, void> {
  add(vector, yield* longHash(text, wordHash), 1);
  let [before, last] = ['', '^'];
  for (const piece of pieces(text)) {
    for (const char of piece) {
      if (before !== '') add(vector, trigram(before, last, char), TRIGRAM_WEIGHT);
      [before, last] = [last, char];
    }
    if (piece.length >= STRETCH) yield;
  }
  add(vector, trigram(before, last, '$'), TRIGRAM_WEIGHT);
}

function* addRest(vector: Float32Array, text: string): Generator<void, void> {
  add(vector, yield* longHash(text.toWellFormed(), restHash), 1);
}

function* longHash(text: string, before: number): Generator<void, number> {
  let hash = before;
  for (const piece of pieces(text)) {
    hash = fnv1a(piece, hash);
    if (piece.length >= STRETCH) yield;
  }
  return hash;
}

/** Cuts text without breaks too, such as base64, but never within a code point. */
function pieces(text: string): readonly string[] {
  if (text.length <= STRETCH) return [text];
  const cut: string[] = [];
  for (let begin = 0; begin < text.length; begin += cut.at(-1)?.length ?? 0) {
    const last = begin + STRETCH - 1;
    const isPair = (text.codePointAt(last) ?? 0) > 0xffff;
    cut.push(text.slice(begin, last + (isPair ? 2 : 1)));
  }
  return cut;
}

function trigram(first: string, second: string, third: string): number {
  return fnv1a(third, fnv1a(second, fnv1a(first, trigramHash)));
}

function add(vector: Float32Array, hash: number, weight: number): void {
  const at = hash % EMBEDDING_WIDTH;
  // The sign uses a bit that the position does not, so that collisions cancel on average.
  const sign = Math.imul(hash, 0x9e3779b1) >>> 31 === 0 ? 1 : -1;
  vector[at] = (vector[at] ?? 0) + sign * weight;
}

/** FNV-1a, 32 bits, over UTF-8 (draft-eastlake-fnv); continues from the hash of the text before. */
function fnv1a(text: string, before = 0x811c9dc5): number {
  let hash = before;
  for (const char of text.toWellFormed()) hash = withCodePoint(hash, char.codePointAt(0) ?? 0);
  return hash >>> 0;
}

function withCodePoint(hash: number, code: number): number {
  const rest = (begun: number, shift: number) => withByte(begun, 0x80 | ((code >> shift) & 0x3f));
  if (code < 0x80) return withByte(hash, code);
  if (code < 0x800) return rest(withByte(hash, 0xc0 | (code >> 6)), 0);
  if (code < 0x10000) return rest(rest(withByte(hash, 0xe0 | (code >> 12)), 6), 0);
  return rest(rest(rest(withByte(hash, 0xf0 | (code >> 18)), 12), 6), 0);
}

function withByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}
