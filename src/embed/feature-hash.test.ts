import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { featureHash } from './feature-hash.ts';
import { toBase64 } from './vector.ts';

const length = (vector: Float32Array) => Math.hypot(...vector);
const cosine = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

describe('featureHash', () => {
  it('gives 768 finite numbers of length 1 for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const vector = featureHash(text);
        expect(vector).toHaveLength(768);
        expect(length(vector)).toBeCloseTo(1, 5);
      }),
    );
  });

  it('keeps its published test vectors, so that stored indexes stay valid', () => {
    const nonZero = (text: string) =>
      [...featureHash(text)]
        .flatMap((value, at) => (value === 0 ? [] : [`${at}:${value.toFixed(4)}`]))
        .join(' ');
    expect(nonZero('a')).toMatchInlineSnapshot(`"282:0.4472 351:-0.8944"`);
    expect(nonZero('Hello, world')).toMatchInlineSnapshot(
      `"30:-0.2357 32:0.4714 69:0.2357 83:0.2357 121:-0.2357 180:-0.4714 234:-0.2357 370:0.2357 376:-0.2357 380:-0.2357 437:0.2357 720:0.2357"`,
    );
    expect(nonZero('!')).toMatchInlineSnapshot(`"596:1.0000"`);
  });

  it('brings texts that share words closer than texts that do not', () => {
    const query = featureHash('how to install the server');
    expect(cosine(query, featureHash('installing the server'))).toBeGreaterThan(
      cosine(query, featureHash('a cat sat on a mat')),
    );
  });
});

describe('toBase64', () => {
  it('writes little-endian float32', () => {
    expect(Buffer.from(toBase64(Float32Array.of(1, -2)), 'base64').toString('hex')).toBe('0000803f000000c0');
  });
});
