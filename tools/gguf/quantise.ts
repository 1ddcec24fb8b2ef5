/**
 * Float rows to ggml's stored forms. Written for clarity, used on small models only:
 * the random weights of the benchmark model are made directly in quantised form.
 */
import { type TensorTypeName, tensorType } from '../../packages/gguf/src/format/format.ts';

export type WritableType = Extract<TensorTypeName, 'F32' | 'F16' | 'Q8_0' | 'Q4_0'>;

/** Encodes values whose count is a multiple of the type's block size. */
export function quantise(type: WritableType, values: Float32Array): Uint8Array {
  const { blockSize, blockBytes } = tensorType(type);
  if (values.length % blockSize !== 0)
    throw new RangeError(`${values.length} values do not fill ${type} blocks of ${blockSize}`);

  const out = new Uint8Array((values.length / blockSize) * blockBytes);
  const view = new DataView(out.buffer);
  const encode =
    type === 'Q8_0' ? encodeQ8 : type === 'Q4_0' ? encodeQ4 : type === 'F16' ? encodeF16 : encodeF32;
  for (let from = 0, at = 0; from < values.length; from += blockSize, at += blockBytes)
    encode(values, from, view, at);

  return out;
}

/** Writes the block of values that starts at `from` to the byte `at`. */
type BlockEncoder = (values: Float32Array, from: number, view: DataView, at: number) => void;

const encodeF32: BlockEncoder = (values, from, view, at) => view.setFloat32(at, values[from] ?? 0, true);

const encodeF16: BlockEncoder = (values, from, view, at) =>
  view.setUint16(at, toHalf(values[from] ?? 0), true);

/** 32 signed bytes and one half-precision scale. */
const encodeQ8: BlockEncoder = (values, from, view, at) => {
  const scale = peak(values, from) / 127;
  view.setUint16(at, toHalf(scale), true);
  for (let index = 0; index < 32; index += 1)
    view.setInt8(at + 2 + index, scale === 0 ? 0 : Math.round((values[from + index] ?? 0) / scale));
};

/** 32 values of 4 bits around 8, low nibbles first half, high nibbles second half, and one scale. */
const encodeQ4: BlockEncoder = (values, from, view, at) => {
  const scale = peak(values, from) / 7;
  view.setUint16(at, toHalf(scale), true);
  for (let index = 0; index < 16; index += 1) {
    const low = nibble(values[from + index] ?? 0, scale);
    view.setUint8(at + 2 + index, low | (nibble(values[from + 16 + index] ?? 0, scale) << 4));
  }
};

function nibble(value: number, scale: number): number {
  return scale === 0 ? 8 : Math.round(value / scale) + 8;
}

function peak(values: Float32Array, from: number): number {
  let most = 0;
  for (let index = from; index < from + 32; index += 1) most = Math.max(most, Math.abs(values[index] ?? 0));
  return most;
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
