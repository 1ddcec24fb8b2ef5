/**
 * Reads a GGUF header with the checks of the format itself: counts and lengths against the file, unique keys, known
 * types. inspect.ts checks the values against the needs of a model.
 */
import type { HeaderCursor, Refuse } from './cursor.ts';
import {
  DEFAULT_ALIGNMENT,
  SCALAR_BYTES,
  type ScalarType,
  VALUE_TYPES_BY_CODE,
  type ValueType,
} from './format.ts';
import { LIMITS } from './limits.ts';
import { readTensors, type TensorInfo } from './tensor-table.ts';
import { checkName } from './text.ts';
import { emptyVocabulary, readByteTypes, readTokens, type Vocabulary } from '../gate/tokens/vocabulary.ts';

type Scalar = number | bigint | boolean | string;

export type HeaderValue =
  /** `value` is absent for a string that is too long to keep. */
  | { readonly type: Exclude<ValueType, 'array'>; readonly value?: Scalar; readonly bytes: number }
  /** `items` exists for short numeric arrays only. */
  | {
      readonly type: 'array';
      readonly of: ValueType;
      readonly count: number;
      readonly items?: readonly number[];
    };

export interface Span {
  readonly from: number;
  readonly bytes: number;
}

export interface Header {
  readonly metadata: ReadonlyMap<string, HeaderValue>;
  /** Bytes of each value including its type. */
  readonly spans: ReadonlyMap<string, Span>;
  readonly tensors: readonly TensorInfo[];
  readonly vocabulary: Vocabulary;
  readonly byteTypes: readonly number[];
  readonly alignment: number;
  readonly dataOffset: number;
  readonly sha256: string;
}

export async function readHeader(cursor: HeaderCursor, sizeBytes: number, refuse: Refuse): Promise<Header> {
  await cursor.need(24, 'its first 24 bytes');
  cursor.pass(8);
  const tensorCount = checkedCount(cursor.u64(), LIMITS.tensors, 'tensors', refuse);
  const entryCount = checkedCount(cursor.u64(), LIMITS.metadataEntries, 'metadata entries', refuse);
  const { metadata, spans, vocabulary, byteTypes } = await readMetadata(cursor, entryCount, refuse);
  const alignment = readAlignment(metadata, refuse);
  const table = await readTensors({ cursor, count: tensorCount, alignment, sizeBytes, refuse });
  return { metadata, spans, vocabulary, byteTypes, alignment, ...table, sha256: cursor.digest() };
}

function checkedCount(value: bigint, limit: number, what: string, refuse: Refuse): number {
  if (value > BigInt(limit)) refuse(`it claims ${value} ${what}; at most ${limit} are accepted`);
  return Number(value);
}

const NUMBER_BYTES = 8;

type Metadata = Pick<Header, 'metadata' | 'spans' | 'vocabulary' | 'byteTypes'>;

async function readMetadata(cursor: HeaderCursor, count: number, refuse: Refuse): Promise<Metadata> {
  const metadata = new Map<string, HeaderValue>();
  const spans = new Map<string, Span>();
  let vocabulary = emptyVocabulary();
  let byteTypes: readonly number[] = [];
  let keptBytes = 0;
  for (let index = 0; index < count; index += 1) {
    const key = await readKey(cursor, refuse);
    if (metadata.has(key)) refuse(`the metadata key "${key}" appears twice`);
    const from = cursor.position;
    const type = await readValueType(cursor, `the value of ${key}`, refuse);
    if (type !== 'array') {
      const value = await readScalarOrText(cursor, type, key);
      if (typeof value.value === 'string') keptBytes += value.bytes;
      metadata.set(key, value);
    } else {
      const array = await readArrayHead(cursor, key, refuse);
      if (key === 'tokenizer.ggml.tokens' && array.of === 'string') {
        vocabulary = await readTokens(cursor, array.count, refuse);
        metadata.set(key, array);
      } else if (key === 'tokenizer.ggml.token_type' && array.of === 'i32') {
        byteTypes = await readByteTypes(cursor, array.count, refuse);
        metadata.set(key, array);
      } else {
        const items = await readItems(cursor, array, key);
        keptBytes += NUMBER_BYTES * (items?.length ?? 0);
        metadata.set(key, items === undefined ? array : { ...array, items });
      }
    }
    spans.set(key, { from, bytes: cursor.position - from });
    keptBytes += key.length;
    if (keptBytes > LIMITS.keptBytes)
      refuse(`its metadata texts and short arrays exceed ${LIMITS.keptBytes} bytes`);
  }
  return { metadata, spans, vocabulary, byteTypes };
}

async function readKey(cursor: HeaderCursor, refuse: Refuse): Promise<string> {
  const length = await cursor.length('a metadata key');
  if (length === 0) refuse('a metadata key is empty');
  if (length > LIMITS.keyBytes)
    refuse(`a metadata key is ${length} bytes long; the limit is ${LIMITS.keyBytes}`);
  await cursor.need(length, 'a metadata key');
  return checkName(cursor.take(length), 'a metadata key', refuse);
}

async function readValueType(cursor: HeaderCursor, what: string, refuse: Refuse): Promise<ValueType> {
  await cursor.need(4, what);
  const code = cursor.u32();
  return VALUE_TYPES_BY_CODE.get(code) ?? refuse(`${what} has the unknown type ${code}`);
}

async function readScalarOrText(
  cursor: HeaderCursor,
  type: Exclude<ValueType, 'array'>,
  key: string,
): Promise<Extract<HeaderValue, { bytes: number }>> {
  if (type !== 'string') {
    await cursor.need(SCALAR_BYTES[type], key);
    return { type, value: readScalar(cursor.take(SCALAR_BYTES[type]), type), bytes: SCALAR_BYTES[type] };
  }
  const bytes = await cursor.length(`the text of ${key}`);
  if (bytes > LIMITS.keptTextBytes) {
    await cursor.skip(bytes, key);
    return { type, bytes };
  }
  await cursor.need(bytes, key);
  return { type, bytes, value: cursor.take(bytes).toString('utf8') };
}

type ArrayHead = Extract<HeaderValue, { type: 'array' }>;

async function readArrayHead(cursor: HeaderCursor, key: string, refuse: Refuse): Promise<ArrayHead> {
  const of = await readValueType(cursor, `the array ${key}`, refuse);
  if (of === 'array') refuse(`${key} is an array of arrays, which llama.cpp does not read`);
  await cursor.need(8, key);
  const count = cursor.u64();
  const elementBytes = of === 'string' ? 8 : SCALAR_BYTES[of];
  if (count > BigInt(Math.floor(cursor.remaining / elementBytes)))
    refuse(`the array ${key} claims ${count} elements where ${cursor.remaining} bytes are left`);

  return { type: 'array', of, count: Number(count) };
}

async function readItems(cursor: HeaderCursor, head: ArrayHead, key: string): Promise<number[] | undefined> {
  if (head.of === 'string' || head.of === 'array') {
    await skipTexts(cursor, head.count, key);
    return undefined;
  }
  const bytes = head.count * SCALAR_BYTES[head.of];
  if (head.count > LIMITS.keptNumbers) {
    await cursor.skip(bytes, key);
    return undefined;
  }
  await cursor.need(bytes, key);
  return readNumbers(cursor.take(bytes), head.of);
}

function readNumbers(bytes: Buffer, of: ScalarType): number[] {
  const size = SCALAR_BYTES[of];
  return Array.from({ length: bytes.length / size }, (_, index) =>
    Number(readScalar(bytes, of, index * size)),
  );
}

async function skipTexts(cursor: HeaderCursor, count: number, key: string): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const length = cursor.holds(8) ? cursor.heldLength(key) : await cursor.length(key);
    if (cursor.holds(length)) cursor.pass(length);
    else await cursor.skip(length, key);
  }
}

function readScalar(bytes: Buffer, type: ScalarType, at = 0): Scalar {
  if (type === 'u64') return bytes.readBigUInt64LE(at);
  if (type === 'i64') return bytes.readBigInt64LE(at);
  if (type === 'f64') return bytes.readDoubleLE(at);
  if (type === 'f32') return bytes.readFloatLE(at);
  if (type === 'u32') return bytes.readUInt32LE(at);
  if (type === 'i32') return bytes.readInt32LE(at);
  if (type === 'u16') return bytes.readUInt16LE(at);
  if (type === 'i16') return bytes.readInt16LE(at);
  if (type === 'i8') return bytes.readInt8(at);
  if (type === 'bool') return bytes.readUInt8(at) !== 0;
  return bytes.readUInt8(at);
}

function readAlignment(metadata: ReadonlyMap<string, HeaderValue>, refuse: Refuse): number {
  const entry = metadata.get('general.alignment');
  if (!entry) return DEFAULT_ALIGNMENT;
  if (entry.type !== 'u32') refuse(`general.alignment is stored as ${entry.type} where u32 is required`);
  const value = Number(entry.value);
  const isPowerOfTwo = value > 0 && (value & (value - 1)) === 0;
  if (!isPowerOfTwo || value < 8 || value > LIMITS.alignment)
    refuse(`general.alignment is ${value}; a power of two from 8 to ${LIMITS.alignment} is required`);

  return value;
}
