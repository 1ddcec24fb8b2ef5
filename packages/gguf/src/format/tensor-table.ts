/**
 * The tensor table, checked for what llama.cpp assumes: no product overflows and no extent leaves the file. All
 * arithmetic is on BigInt.
 */
import type { HeaderCursor, Refuse } from './cursor.ts';
import { MAX_TENSOR_DIMS, MAX_TENSOR_NAME_BYTES, TENSOR_TYPES_BY_CODE, type TensorType } from './format.ts';
import { checkName } from './text.ts';

export interface TensorInfo {
  readonly name: string;
  readonly type: TensorType;
  /** Row length first. */
  readonly dims: readonly bigint[];
  readonly elements: bigint;
  readonly bytes: bigint;
  readonly offset: bigint;
}

interface TensorTable {
  readonly tensors: readonly TensorInfo[];
  readonly dataOffset: number;
}

interface TableSource {
  readonly cursor: HeaderCursor;
  readonly count: number;
  readonly alignment: number;
  readonly sizeBytes: number;
  readonly refuse: Refuse;
}

const INT64_LIMIT = 2n ** 63n;

export async function readTensors(source: TableSource): Promise<TensorTable> {
  const { cursor, count, alignment, refuse } = source;
  const tensors: TensorInfo[] = [];
  const names = new Set<string>();
  for (let index = 0; index < count; index += 1) {
    const tensor = await readTensor(cursor, refuse);
    if (names.has(tensor.name)) refuse(`two tensors are named "${tensor.name}"`);
    names.add(tensor.name);
    tensors.push(tensor);
  }
  const dataOffset = Math.ceil(cursor.position / alignment) * alignment;
  checkPlaces(tensors, BigInt(alignment), refuse);
  checkExtents(tensors, dataOffset, source.sizeBytes, refuse);
  return { tensors, dataOffset };
}

async function readTensor(cursor: HeaderCursor, refuse: Refuse): Promise<TensorInfo> {
  const length = await cursor.length('a tensor name');
  if (length === 0 || length > MAX_TENSOR_NAME_BYTES)
    refuse(`a tensor name is ${length} bytes long; 1 to ${MAX_TENSOR_NAME_BYTES} are accepted`);

  await cursor.need(length + 4, 'the tensor table');
  const name = checkName(cursor.take(length), 'a tensor name', refuse);
  const dimCount = cursor.u32();
  if (dimCount > MAX_TENSOR_DIMS)
    refuse(`tensor "${name}" has ${dimCount} dimensions; at most ${MAX_TENSOR_DIMS} are supported`);
  await cursor.need(dimCount * 8 + 12, 'the tensor table');
  const dims = Array.from({ length: dimCount }, () => cursor.u64());
  const code = cursor.u32();
  const type =
    TENSOR_TYPES_BY_CODE.get(code) ?? refuse(`tensor "${name}" has the unknown or removed type ${code}`);
  return { name, type, dims, ...measure(name, type, dims, refuse), offset: cursor.u64() };
}

function measure(
  name: string,
  type: TensorType,
  dims: readonly bigint[],
  refuse: Refuse,
): Pick<TensorInfo, 'elements' | 'bytes'> {
  let elements = 1n;
  for (const dim of dims) {
    if (dim === 0n) refuse(`tensor "${name}" has a dimension of 0`);
    elements *= dim;
    if (elements >= INT64_LIMIT) refuse(`tensor "${name}" has more elements than can be counted`);
  }
  const row = dims[0] ?? 1n;
  const block = BigInt(type.blockSize);
  if (row % block !== 0n)
    refuse(`tensor "${name}" has rows of ${row} where ${type.name} needs a multiple of ${block}`);
  const bytes = (elements / block) * BigInt(type.blockBytes);
  // llama.cpp pads sizes in 64 bits; a size this close to the limit would wrap to zero.
  if (bytes >= INT64_LIMIT) refuse(`tensor "${name}" has more bytes than can be counted`);
  return { elements, bytes };
}

/** llama.cpp requires tensors in table order, aligned, without gaps. */
function checkPlaces(tensors: readonly TensorInfo[], alignment: bigint, refuse: Refuse): void {
  let expected = 0n;
  for (const { name, offset, bytes } of tensors) {
    if (offset % alignment !== 0n)
      refuse(`tensor "${name}" starts at ${offset}, which is not aligned to ${alignment}`);
    if (offset < expected) refuse(`tensor "${name}" overlaps the one before it, or is out of order`);
    if (offset > expected) refuse(`tensor "${name}" starts at ${offset} where ${expected} was expected`);
    expected += ((bytes + alignment - 1n) / alignment) * alignment;
  }
}

function checkExtents(
  tensors: readonly TensorInfo[],
  dataOffset: number,
  sizeBytes: number,
  refuse: Refuse,
): void {
  for (const { name, offset, bytes } of tensors) {
    const end = BigInt(dataOffset) + offset + bytes;
    if (end > BigInt(sizeBytes)) {
      refuse(
        `tensor "${name}" ends at byte ${end} but the file has only ${sizeBytes}; it was not copied completely`,
      );
    }
  }
}
