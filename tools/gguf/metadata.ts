/**
 * Metadata values for the writer: a value together with the GGUF type it is stored as.
 * The constructors keep the model definitions readable: `u32(64)`, `text('llama')`.
 */
import { SCALAR_BYTES, type ScalarType, VALUE_TYPE_CODES } from '../../packages/gguf/src/format/format.ts';

export type MetadataValue =
  | { readonly type: ScalarType; readonly value: number | bigint | boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'array'; readonly of: 'string'; readonly items: readonly string[] }
  | { readonly type: 'array'; readonly of: ScalarType; readonly items: readonly (number | bigint)[] };

export const u32 = (value: number): MetadataValue => ({ type: 'u32', value });
export const f32 = (value: number): MetadataValue => ({ type: 'f32', value });
export const flag = (value: boolean): MetadataValue => ({ type: 'bool', value });
export const text = (value: string): MetadataValue => ({ type: 'string', value });
export const texts = (items: readonly string[]): MetadataValue => ({ type: 'array', of: 'string', items });
export const scalars = (of: ScalarType, items: readonly number[]): MetadataValue => ({
  type: 'array',
  of,
  items,
});

/** A GGUF string: a 64-bit byte length and then the UTF-8 bytes. */
export function encodeText(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([encodeScalar('u64', bytes.length), bytes]);
}

export function encodeScalar(type: ScalarType, value: number | bigint | boolean): Buffer {
  const out = Buffer.alloc(SCALAR_BYTES[type]);
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  const number = Number(value);
  if (type === 'u64') view.setBigUint64(0, BigInt(value), true);
  else if (type === 'i64') view.setBigInt64(0, BigInt(value), true);
  else if (type === 'f64') view.setFloat64(0, number, true);
  else if (type === 'f32') view.setFloat32(0, number, true);
  else if (type === 'u32') view.setUint32(0, number, true);
  else if (type === 'i32') view.setInt32(0, number, true);
  else if (type === 'u16') view.setUint16(0, number, true);
  else if (type === 'i16') view.setInt16(0, number, true);
  else if (type === 'i8') view.setInt8(0, number);
  else view.setUint8(0, number);
  return out;
}

/** The type code followed by the value, as it stands after a metadata key. */
export function encodeValue(value: MetadataValue): Buffer {
  const code = encodeScalar('u32', VALUE_TYPE_CODES[value.type]);
  if (value.type === 'string') return Buffer.concat([code, encodeText(value.value)]);
  if (value.type !== 'array') return Buffer.concat([code, encodeScalar(value.type, value.value)]);
  const head = [
    code,
    encodeScalar('u32', VALUE_TYPE_CODES[value.of]),
    encodeScalar('u64', value.items.length),
  ];
  const items = value.of === 'string' ? value.items.map(encodeText) : encodeScalars(value.of, value.items);
  return Buffer.concat([...head, ...items]);
}

function encodeScalars(of: ScalarType, items: readonly (number | bigint)[]): Buffer[] {
  return items.map((item) => encodeScalar(of, item));
}
