import { describe, expect, it } from 'vitest';
import { quantise, toHalf } from './quantise.ts';

describe('half precision', () => {
  it('encodes the values that IEEE 754 names', () => {
    const cases: readonly [number, number][] = [
      [0, 0x0000],
      [-0, 0x8000],
      [1, 0x3c00],
      [-2, 0xc000],
      [65504, 0x7bff],
      [65520, 0x7c00],
      [1e9, 0x7c00],
      [-Infinity, 0xfc00],
      [2 ** -14, 0x0400],
      [2 ** -24, 0x0001],
      [2 ** -26, 0x0000],
      [1 / 3, 0x3555],
    ];
    for (const [value, bits] of cases) expect([value, toHalf(value)]).toEqual([value, bits]);
    expect(toHalf(Number.NaN) & 0x7fff).toBeGreaterThan(0x7c00);
  });

  it('rounds ties to even', () => {
    expect(toHalf(1 + 2 ** -11)).toBe(0x3c00);
    expect(toHalf(1 + 3 * 2 ** -11)).toBe(0x3c02);
  });
});

describe('block quantisation', () => {
  const values = Float32Array.from({ length: 64 }, (_, index) => Math.sin(index) * (index < 32 ? 1 : 10));
  const scaleAt = (bytes: Uint8Array, at: number): number =>
    halfToNumber(new DataView(bytes.buffer).getUint16(at, true));

  it('keeps Q8_0 values within half a step', () => {
    const bytes = quantise('Q8_0', values);
    expect(bytes.length).toBe(2 * 34);
    values.forEach((value, index) => {
      const at = Math.floor(index / 32) * 34;
      const restored = scaleAt(bytes, at) * new DataView(bytes.buffer).getInt8(at + 2 + (index % 32));
      expect(Math.abs(restored - value)).toBeLessThan(scaleAt(bytes, at) * 0.6);
    });
  });

  it('keeps Q4_0 values within half a step, low nibbles first', () => {
    const bytes = quantise('Q4_0', values);
    expect(bytes.length).toBe(2 * 18);
    values.forEach((value, index) => {
      const at = Math.floor(index / 32) * 18;
      const packed = bytes[at + 2 + (index % 16)] ?? 0;
      const level = index % 32 < 16 ? packed & 15 : packed >> 4;
      expect(Math.abs((level - 8) * scaleAt(bytes, at) - value)).toBeLessThan(scaleAt(bytes, at) * 0.6);
    });
  });

  it('refuses values that do not fill their blocks', () => {
    expect(() => quantise('Q8_0', new Float32Array(33))).toThrow(/blocks of 32/);
  });

  it('stores a block of zeros as zeros', () => {
    expect([...quantise('Q8_0', new Float32Array(32))].every((byte) => byte === 0)).toBe(true);
  });
});

function halfToNumber(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
}
