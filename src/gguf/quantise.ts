/**
 * Float rows to ggml's stored forms. Written for clarity, used on small models only:
 * the random weights of the benchmark model are made directly in quantised form.
 */
import { type TensorTypeName, tensorType } from './format.ts';

export type WritableType = Extract<TensorTypeName, 'F32' | 'F16' | 'Q8_0' | 'Q4_0'>;

/** Encodes values whose count is a multiple of the type's block size. */
export function quantise(type: WritableType, values: Float32Array): Uint8Array {
  const { blockSize, blockBytes } = tensorType(type);
  if (values.length % blockSize !== 0) {
    throw new RangeError(`${values.length} values do not fill ${type} blocks of ${blockSize}`);
  }
  const out = new Uint8Array((values.length / blockSize) * blockBytes);
  const view = new DataView(out.buffer);
  for (let block = 0; block * blockSize < values.length; block += 1) {
    const from = block * blockSize;
    encodeBlock(type, values.subarray(from, from + blockSize), view, block * blockBytes);
  }
  return out;
}

function encodeBlock(type: WritableType, values: Float32Array, view: DataView, at: number): void {
  if (type === 'F32') view.setFloat32(at, values[0] ?? 0, true);
  else if (type === 'F16') view.setUint16(at, toHalf(values[0] ?? 0), true);
  else if (type === 'Q8_0') encodeQ8(values, view, at);
  else encodeQ4(values, view, at);
}

/** 32 signed bytes and one half-precision scale. */
function encodeQ8(values: Float32Array, view: DataView, at: number): void {
  const scale = peak(values) / 127;
  view.setUint16(at, toHalf(scale), true);
  values.forEach((value, index) => {
    view.setInt8(at + 2 + index, scale === 0 ? 0 : Math.round(value / scale));
  });
}

/** 32 values of 4 bits around 8, low nibbles first half, high nibbles second half, and one scale. */
function encodeQ4(values: Float32Array, view: DataView, at: number): void {
  const scale = peak(values) / 7;
  const level = (index: number): number => {
    const steps = scale === 0 ? 0 : Math.round((values[index] ?? 0) / scale);
    return Math.min(15, Math.max(0, steps + 8));
  };
  view.setUint16(at, toHalf(scale), true);
  for (let index = 0; index < 16; index += 1) {
    view.setUint8(at + 2 + index, level(index) | (level(index + 16) << 4));
  }
}

function peak(values: Float32Array): number {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

const floatView = new DataView(new ArrayBuffer(4));

/** IEEE 754 half precision, ties to even; overflow becomes infinity and tiny values become zero. */
export function toHalf(value: number): number {
  floatView.setFloat32(0, value);
  const bits = floatView.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const mantissa = bits & 0x7fffff;
  if (exponent >= 31) return sign | 0x7c00 | (Number.isNaN(value) ? 0x200 : 0);
  if (exponent >= 1) return sign | roundShift((exponent << 23) | mantissa, 13);
  if (exponent < -10) return sign;
  return sign | roundShift(mantissa | 0x800000, 14 - exponent);
}

/** Shifts right by `count` bits, rounding to nearest and ties to even. */
function roundShift(bits: number, count: number): number {
  const kept = bits >>> count;
  const rest = bits & ((1 << count) - 1);
  const half = 1 << (count - 1);
  return rest > half || (rest === half && (kept & 1) === 1) ? kept + 1 : kept;
}
