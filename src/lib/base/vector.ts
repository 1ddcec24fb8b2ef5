/**
 * Scales to L2 length 1; a zero vector stays zero. Throws on non-finite numbers, whose similarities have no meaning.
 */
export function normalise(vector: Float32Array | Float64Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!Number.isFinite(squares)) throw new Error('a vector that is not finite cannot be normalised');
  const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares);
  return Float32Array.from(vector, (value) => value * scale);
}

export function float32Bytes(vectors: readonly Float32Array[]): Uint8Array {
  const bytes = new Uint8Array(4 * vectors.reduce((sum, { length }) => sum + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const vector of vectors) {
    for (const value of vector) {
      view.setFloat32(at, value, true);
      at += 4;
    }
  }
  return bytes;
}

/** Base64 of `float32Bytes`, the default of OpenAI's clients. */
export const toBase64 = (vector: Float32Array): string =>
  Buffer.from(float32Bytes([vector])).toString('base64');

/** Null unless the text is canonical base64 of whole floats. */
export function fromBase64(text: string): Float32Array | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0 || bytes.toString('base64') !== text) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => view.getFloat32(4 * at, true));
}
