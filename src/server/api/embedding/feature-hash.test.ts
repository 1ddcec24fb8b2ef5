import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { featureCount, featureHash as pausingFeatureHash } from './feature-hash.ts';
import { normalise, toBase64 } from '../../../lib/base/vector.ts';

const featureHash = (text: string) => pausingFeatureHash(text, async () => {});
const length = (vector: Float32Array) => Math.hypot(...vector);
const cosine = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

describe('featureHash', () => {
  it('gives 768 finite numbers of length 1 for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
        const vector = await featureHash(text);
        expect(vector).toHaveLength(768);
        expect(length(vector)).toBeCloseTo(1, 5);
      }),
    );
  });

  it('keeps its published test vectors, so that stored indexes stay valid', async () => {
    const nonZero = async (text: string) =>
      [...(await featureHash(text))]
        .flatMap((value, at) => (value === 0 ? [] : [`${at}:${value.toFixed(4)}`]))
        .join(' ');
    expect(await nonZero('a')).toMatchInlineSnapshot(`"282:0.4472 351:-0.8944"`);
    expect(await nonZero('Hello, world')).toMatchInlineSnapshot(
      `"30:-0.2357 32:0.4714 69:0.2357 83:0.2357 121:-0.2357 180:-0.4714 234:-0.2357 370:0.2357 376:-0.2357 380:-0.2357 437:0.2357 720:0.2357"`,
    );
    expect(await nonZero('!')).toMatchInlineSnapshot(`"596:1.0000"`);
  });

  it('agrees with its definition, feature by feature, for any text', async () => {
    const units = fc.constantFrom(...'abcXYZ019 ,.éßΩ語😀\u{1d54f}İ\u0301\ud800');
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: units, maxLength: 200 }), async (text) => {
        expect(await featureHash(text)).toEqual(byDefinition(text));
      }),
    );
  });

  it('pauses within a large text, and stops when the pause says so', async () => {
    const text = 'some words '.repeat(50_000);
    let pauses = 0;
    const stop = async () => {
      pauses += 1;
      if (pauses === 3) throw new Error('stopped');
    };
    await expect(pausingFeatureHash(text, stop)).rejects.toThrow('stopped');
    expect(pauses).toBe(3);
    expect(await featureCount(text, async () => {})).toBe(100_000);
  });

  it.each([
    ['a word', 'a1語\u{1d54f}bc'],
    ['code points that are cut at odd places', `a${'\u{1d54f}'.repeat(3)}`],
    ['text without words', '.😀\ud800'],
  ])('pauses within %s without a break, and hashes it as ever', async (_, unit) => {
    const text = unit.repeat(Math.ceil(100_000 / unit.length));
    let pauses = 0;
    const vector = await pausingFeatureHash(text, async () => {
      pauses += 1;
    });
    expect(pauses).toBeGreaterThanOrEqual(3);
    expect(vector).toEqual(byDefinition(text));
  });

  it('brings texts that share words closer than texts that do not', async () => {
    const query = await featureHash('how to install the server');
    expect(cosine(query, await featureHash('installing the server'))).toBeGreaterThan(
      cosine(query, await featureHash('a cat sat on a mat')),
    );
  });
});

/** docs/feature-hash.md, word for word. */
function byDefinition(text: string): Float32Array {
  const vector = new Float32Array(768);
  const add = (feature: string, weight: number) => {
    const hash = [...Buffer.from(feature)].reduce(
      (sum, byte) => Math.imul(sum ^ byte, 16_777_619),
      2_166_136_261,
    );
    const sign = Math.imul(hash, 0x9e3779b1) >>> 31 === 0 ? 1 : -1;
    vector[(hash >>> 0) % 768] = (vector[(hash >>> 0) % 768] ?? 0) + sign * weight;
  };
  for (const word of text
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []) {
    add(`w:${word}`, 1);
    const framed = [...`^${word}$`];
    for (let at = 0; at + 3 <= framed.length; at += 1) add(`t:${framed.slice(at, at + 3).join('')}`, 0.5);
  }
  if (vector.every((value) => value === 0)) add(`r:${text}`, 1);
  return normalise(vector);
}

describe('toBase64', () => {
  it('writes little-endian float32', () => {
    expect(Buffer.from(toBase64(Float32Array.of(1, -2)), 'base64').toString('hex')).toBe('0000803f000000c0');
  });
});
