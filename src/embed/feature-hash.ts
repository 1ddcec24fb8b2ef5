/**
 * The feature-hash fallback, `feature-hash-768@1`: a deterministic vector from words and character trigrams.
 * It knows nothing of meaning; it exists so that an index can be built and tested without a model, when the
 * operator allows it. docs/feature-hash.md defines it and lists test vectors; any change is a new version.
 */
import { normalise } from './vector.ts';

export const featureHashModel = 'feature-hash-768';
export const featureHashVersion = 'feature-hash-768@1';
const width = 768;
const trigramWeight = 0.5;

/** 768 numbers of length 1; never the zero vector, whatever the text. */
export function featureHash(text: string): Float32Array {
  const vector = new Float32Array(width);
  const words =
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const word of words) {
    add(vector, `w:${word}`, 1);
    const framed = [...`^${word}$`];
    for (let at = 0; at + 3 <= framed.length; at += 1)
      add(vector, `t:${framed.slice(at, at + 3).join('')}`, trigramWeight);
  }
  // Text without words, and features that cancel out exactly, still need a direction of their own.
  if (vector.every((value) => value === 0)) add(vector, `r:${text}`, 1);
  return normalise(vector);
}

/** The number of features that stands for tokens in `usage`: the words, at least 1. */
export function featureCount(text: string): number {
  return Math.max(1, text.normalize('NFC').match(/[\p{L}\p{N}]+/gu)?.length ?? 0);
}

function add(vector: Float32Array, feature: string, weight: number): void {
  const hash = fnv1a(feature);
  const at = hash % width;
  // The sign comes from a bit that the position does not use up, so that collisions cancel on average.
  const sign = Math.imul(hash, 0x9e3779b1) >>> 31 === 0 ? 1 : -1;
  vector[at] = (vector[at] ?? 0) + sign * weight;
}

/** FNV-1a, 32 bits, over UTF-8 (draft-eastlake-fnv). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
