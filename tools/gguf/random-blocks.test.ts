import { describe, expect, it } from 'vitest';
import { randomBlocks } from './random-blocks.ts';
import { seededRandom } from './random.ts';

const bytesOf = (type: 'Q4_K' | 'Q6_K' | 'F16', seed = 1): Buffer =>
  Buffer.concat([...randomBlocks('w', { type, rows: 8, columns: 1024 }, seededRandom(seed)).chunks()]);

describe('random weights', () => {
  it.each(['Q4_K', 'Q6_K', 'F16'] as const)('of %s are the same bytes for the same seed only', (type) => {
    expect(bytesOf(type).equals(bytesOf(type))).toBe(true);
    expect(bytesOf(type).equals(bytesOf(type, 2))).toBe(false);
  });

  it('in halves have both signs and usual sizes', () => {
    const bytes = bytesOf('F16');
    const halves = Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readUInt16LE(2 * at));
    expect(halves.length).toBe(8 * 1024);
    // Sign 0 or 1, and the exponent of 2^-6.
    expect(new Set(halves.map((half) => half >> 10))).toEqual(new Set([9, 32 + 9]));
    expect(new Set(halves).size).toBeGreaterThan(1500);
  });

  it('in Q4_K read as one finite step and eight scales and minima of 32', () => {
    const bytes = bytesOf('Q4_K');
    expect(bytes.length).toBe((8 * 1024 * 144) / 256);
    for (let at = 0; at < bytes.length; at += 144) {
      // Steps of 2^-13 and 2^-10; an exponent of 31 would be no number.
      expect([bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)].map((half) => (half >> 10) & 31)).toEqual([
        2, 5,
      ]);
      expect(scalesAndMinima(bytes.subarray(at + 4, at + 16))).toEqual(Array.from({ length: 16 }, () => 32));
    }
  });
});

/** As llama.cpp unpacks twelve bytes: six bits each, the last four of both kinds spread over the first eight bytes. */
function scalesAndMinima(packed: Buffer): number[] {
  const byte = (at: number): number => packed[at] ?? 0;
  const low = Array.from({ length: 8 }, (_, at) => byte(at) & 63);
  const high = Array.from({ length: 4 }, (_, at) => [
    (byte(at + 8) & 15) | ((byte(at) >> 6) << 4),
    (byte(at + 8) >> 4) | ((byte(at + 4) >> 6) << 4),
  ]);
  return [...low, ...high.flat()];
}
