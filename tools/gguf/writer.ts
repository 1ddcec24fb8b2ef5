/**
 * tools/gguf owns writing GGUF files: the same input always gives the same bytes. It does not know what a model means by
 * its tensors, and checks sizes but not sense: broken files are written with it too.
 *
 * This file streams tensor data, so a file of any size needs little memory, and renames the finished file into place, so
 * that a reader never meets half of one.
 */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import {
  DEFAULT_ALIGNMENT,
  GGUF_MAGIC,
  type TensorTypeName,
  tensorType,
} from '../../packages/gguf/src/format/format.ts';
import { encodeScalar, encodeText, encodeValue, type MetadataValue } from './metadata.ts';

export interface TensorSource {
  readonly name: string;
  readonly type: TensorTypeName;
  /** The row length first, as ggml counts them. */
  readonly dims: readonly number[];
  /** The encoded bytes, in as many pieces as convenient. Called once per write. */
  readonly chunks: () => Iterable<Uint8Array>;
}

export interface GgufContent {
  readonly metadata: Readonly<Record<string, MetadataValue>>;
  readonly tensors: readonly TensorSource[];
}

/** Writes the file and returns its size in bytes. */
export async function writeGguf(path: string, content: GgufContent): Promise<number> {
  const partial = `${path}.partial-${process.pid}`;
  const file = await open(partial, 'w');
  try {
    const sizeBytes = await writeContent(file, content);
    await file.sync();
    await file.close();
    await rename(partial, path);
    return sizeBytes;
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw error;
  }
}

/** The whole file in memory, for small models and for tests that damage it. */
export function encodeGguf(content: GgufContent): Buffer {
  const parts: Uint8Array[] = [encodeHeader(content)];
  for (const tensor of content.tensors) parts.push(...tensorPieces(tensor));
  return Buffer.concat(parts);
}

/** Everything before the tensor data, padded to the alignment. */
export function encodeHeader(content: GgufContent): Buffer {
  const entries = Object.entries(content.metadata);
  const parts: Uint8Array[] = [
    Buffer.from(GGUF_MAGIC, 'latin1'),
    encodeScalar('u32', 3),
    encodeScalar('u64', content.tensors.length),
    encodeScalar('u64', entries.length),
  ];
  for (const [key, value] of entries) parts.push(encodeText(key), encodeValue(value));
  let offset = 0;
  for (const tensor of content.tensors) {
    parts.push(encodeTensorInfo(tensor, offset));
    offset += paddedTensorBytes(tensor);
  }
  return padBuffer(Buffer.concat(parts));
}

export function tensorBytes(typeName: TensorTypeName, dims: readonly number[]): number {
  const type = tensorType(typeName);
  const [row = 0, ...rest] = dims;
  if (row % type.blockSize !== 0)
    throw new RangeError(`a ${typeName} row of ${row} does not fill its blocks`);
  return (row / type.blockSize) * type.blockBytes * rest.reduce((product, dim) => product * dim, 1);
}

/** A tensor's bytes with the padding up to the next one. */
export function paddedTensorBytes(tensor: Pick<TensorSource, 'type' | 'dims'>): number {
  return padded(tensorBytes(tensor.type, tensor.dims));
}

function encodeTensorInfo(tensor: TensorSource, offset: number): Buffer {
  return Buffer.concat([
    encodeText(tensor.name),
    encodeScalar('u32', tensor.dims.length),
    ...tensor.dims.map((dim) => encodeScalar('u64', dim)),
    encodeScalar('u32', tensorType(tensor.type).code),
    encodeScalar('u64', offset),
  ]);
}

async function writeContent(file: FileHandle, content: GgufContent): Promise<number> {
  const header = encodeHeader(content);
  let position = 0;
  const append = async (bytes: Uint8Array) => {
    let done = 0;
    while (done < bytes.byteLength) {
      const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done, position + done);
      done += bytesWritten;
    }
    position += done;
  };
  await append(header);
  for (const tensor of content.tensors) for (const piece of tensorPieces(tensor)) await append(piece);
  return position;
}

/** The tensor's data followed by its padding; refuses a source that yields another size. */
function* tensorPieces(tensor: TensorSource): Generator<Uint8Array> {
  const expected = tensorBytes(tensor.type, tensor.dims);
  let written = 0;
  for (const chunk of tensor.chunks()) {
    written += chunk.byteLength;
    yield chunk;
  }
  if (written !== expected) throw new RangeError(`${tensor.name} has ${written} bytes, expected ${expected}`);
  if (padded(expected) > expected) yield new Uint8Array(padded(expected) - expected);
}

function padded(size: number): number {
  return Math.ceil(size / DEFAULT_ALIGNMENT) * DEFAULT_ALIGNMENT;
}

function padBuffer(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(padded(bytes.length) - bytes.length)]);
}
