/** Arithmetic and encodings of embedding vectors. */
import { endianness } from 'node:os';

/** Scaled to L2 length 1; a zero vector stays zeros. Throws on a non-finite one: no similarity to it means anything. */
export function normalise(vector: Float32Array | Float64Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!Number.isFinite(squares)) throw new Error('a vector that is not finite cannot be normalised');
  const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares);
  return Float32Array.from(vector, (value) => value * scale);
}

/** Little-endian float32, base64: what OpenAI clients ask for by default. */
export function toBase64(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64');
}
