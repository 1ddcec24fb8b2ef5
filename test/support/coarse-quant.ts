/** A tensor of Q8_0 as Q2_K: 2.6 bits of a weight, as llama-quantize writes them without samples. */
import { toHalf } from '../../tools/gguf/quantise.ts';

const BLOCK = 256;
const SUB = 16;
const Q2_BYTES = 84;
const Q8_VALUES = 32;
const Q8_BYTES = 34;
const MOST_SCALE = 15;

export function toQ2K(q8: Uint8Array): Uint8Array {
  const values = fromQ8(q8);
  if (values.length % BLOCK !== 0)
    throw new RangeError(`${values.length} values do not fill blocks of ${BLOCK}`);
  const out = new Uint8Array((values.length / BLOCK) * Q2_BYTES);
  for (let at = 0; at * BLOCK < values.length; at += 1)
    encode(values.subarray(at * BLOCK, (at + 1) * BLOCK), out.subarray(at * Q2_BYTES, (at + 1) * Q2_BYTES));
  return out;
}

function fromQ8(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: (bytes.byteLength / Q8_BYTES) * Q8_VALUES }, (_, index) => {
    const at = Math.floor(index / Q8_VALUES) * Q8_BYTES;
    return halfAt(view, at) * view.getInt8(at + 2 + (index % Q8_VALUES));
  });
}

/** Scales of finite values only. */
function halfAt(view: DataView, at: number): number {
  const bits = view.getUint16(at, true);
  const [exponent, mantissa] = [(bits >>> 10) & 0x1f, bits & 0x3ff];
  const size = exponent === 0 ? mantissa * 2 ** -24 : (1 + mantissa / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

/** Sixteen values share a scale and a minimum of four bits each, which share two numbers of half precision. */
function encode(values: Float32Array, out: Uint8Array): void {
  const subs = Array.from({ length: BLOCK / SUB }, (_, at) => values.subarray(at * SUB, (at + 1) * SUB));
  const lows = subs.map((sub) => Math.max(0, -Math.min(...sub)));
  const steps = subs.map((sub, at) => (Math.max(...sub) + (lows[at] ?? 0)) / 3);
  const [scale, low] = [Math.max(...steps) / MOST_SCALE, Math.max(...lows) / MOST_SCALE];
  const share = (value: number, of: number): number => (of === 0 ? 0 : Math.round(value / of));
  for (const at of subs.keys()) out[at] = share(steps[at] ?? 0, scale) | (share(lows[at] ?? 0, low) << 4);
  const level = (index: number): number => {
    const packed = out[Math.floor(index / SUB)] ?? 0;
    const step = scale * (packed & 0xf);
    const value = (values[index] ?? 0) + low * (packed >> 4);
    return step === 0 ? 0 : Math.min(3, Math.max(0, Math.round(value / step)));
  };
  for (let index = 0; index < BLOCK / 4; index += 1) {
    const first = Math.floor(index / 32) * 128 + (index % 32);
    out[SUB + index] = [0, 1, 2, 3].reduce((byte, at) => byte | (level(first + 32 * at) << (2 * at)), 0);
  }
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  view.setUint16(80, toHalf(scale), true);
  view.setUint16(82, toHalf(low), true);
}
