/**
 * A GGUF file taken apart into fields that can be set to anything, for building files that
 * the writer would never produce.
 */
import { GGUF_MAGIC, tensorType } from '../gguf/format.ts';
import { encodeScalar, encodeText, encodeValue, type MetadataValue } from '../gguf/metadata.ts';
import { encodeGguf, encodeHeader, type GgufContent, paddedTensorBytes } from '../gguf/writer.ts';

export interface RawTensor {
  name: Buffer;
  /** What the file says; the dimensions themselves may be more or fewer. */
  dimCount: number;
  dims: bigint[];
  typeCode: number;
  offset: bigint;
}

export interface RawGguf {
  version: number;
  /** Undefined: the true counts. */
  tensorCount: bigint | undefined;
  entryCount: bigint | undefined;
  /** Each a key with its value, encoded. */
  entries: Buffer[];
  tensors: RawTensor[];
  data: Buffer;
}

const ALIGNMENT = 32;
const U64_MASK = 2n ** 64n - 1n;

export function takeApart(content: GgufContent): RawGguf {
  let offset = 0n;
  const tensors = content.tensors.map((tensor): RawTensor => {
    const dims = tensor.dims.map(BigInt);
    const typeCode = tensorType(tensor.type).code;
    const raw = { name: Buffer.from(tensor.name), dimCount: dims.length, dims, typeCode, offset };
    offset += BigInt(paddedTensorBytes(tensor));
    return raw;
  });
  return {
    version: 3,
    tensorCount: undefined,
    entryCount: undefined,
    entries: Object.entries(content.metadata).map(([key, value]) => entry(key, value)),
    tensors,
    data: encodeGguf(content).subarray(encodeHeader(content).length),
  };
}

export function putTogether(raw: RawGguf): Buffer {
  const header = Buffer.concat([
    Buffer.from(GGUF_MAGIC),
    encodeScalar('u32', raw.version),
    encodeScalar('u64', raw.tensorCount ?? BigInt(raw.tensors.length)),
    encodeScalar('u64', raw.entryCount ?? BigInt(raw.entries.length)),
    ...raw.entries,
    ...raw.tensors.map(encodeTensor),
  ]);
  const padding = Buffer.alloc((ALIGNMENT - (header.length % ALIGNMENT)) % ALIGNMENT);
  return Buffer.concat([header, padding, raw.data]);
}

export function entry(key: string, value: MetadataValue): Buffer {
  return Buffer.concat([encodeText(key), encodeValue(value)]);
}

function encodeTensor(tensor: RawTensor): Buffer {
  return Buffer.concat([
    encodeScalar('u64', tensor.name.length),
    tensor.name,
    encodeScalar('u32', tensor.dimCount),
    ...tensor.dims.map((dim) => encodeScalar('u64', dim & U64_MASK)),
    encodeScalar('u32', tensor.typeCode),
    encodeScalar('u64', tensor.offset & U64_MASK),
  ]);
}
