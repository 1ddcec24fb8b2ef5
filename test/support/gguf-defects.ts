/** Defects of model files, seeded in a copy of their bytes: what a bad disk, a bad conversion or too small a quant does. */
import { type Contents, readContents, type TensorPlace } from '../../packages/gguf/src/gate/inspect.ts';
import {
  DEFAULT_ALIGNMENT,
  GGUF_MAGIC,
  type TensorTypeName,
  tensorType,
} from '../../packages/gguf/src/format/format.ts';
import { encodeScalar, encodeText, encodeValue, type MetadataValue } from '../../tools/gguf/metadata.ts';

/** A file whose parts can be exchanged. */
export interface Opened extends Contents {
  readonly bytes: Buffer;
}

export const openDefects = async (path: string, bytes: Buffer): Promise<Opened> => ({
  ...(await readContents(path)),
  bytes,
});

interface Tensor {
  readonly type: TensorTypeName;
  readonly bytes: Uint8Array;
}

interface Change {
  readonly values?: Readonly<Record<string, MetadataValue>>;
  readonly tensors?: Readonly<Record<string, Tensor>>;
}

/** The file anew, with other values or tensors. */
export function rebuilt({ bytes, values, tensors }: Opened, change: Change): Buffer {
  const inFile = ({ from, bytes: count }: { from: number; bytes: number }) =>
    bytes.subarray(from, from + count);
  const keys = new Set([...values.keys(), ...Object.keys(change.values ?? {})]);
  const entries = [...keys].flatMap((key) => {
    const [changed, place] = [change.values?.[key], values.get(key)];
    if (changed !== undefined) return [encodeText(key), encodeValue(changed)];
    return place === undefined ? [] : [encodeText(key), inFile(place)];
  });
  const infos: Buffer[] = [];
  const data: Uint8Array[] = [];
  let offset = 0;
  for (const [name, place] of tensors) {
    const changed = change.tensors?.[name];
    const { type, bytes: content } = changed ?? { type: place.type as TensorTypeName, bytes: inFile(place) };
    const dims = place.shape.split(' x ').map(Number);
    infos.push(
      encodeText(name),
      encodeScalar('u32', dims.length),
      ...dims.map((dim) => encodeScalar('u64', dim)),
      encodeScalar('u32', tensorType(type).code),
      encodeScalar('u64', offset),
    );
    data.push(content, Buffer.alloc(padding(content.length)));
    offset += content.length + padding(content.length);
  }
  const counts = [tensors.size, keys.size].map((count) => encodeScalar('u64', count));
  const head = Buffer.concat([
    Buffer.from(GGUF_MAGIC, 'latin1'),
    encodeScalar('u32', 3),
    ...counts,
    ...entries,
    ...infos,
  ]);
  return Buffer.concat([head, Buffer.alloc(padding(head.length)), ...data]);
}

const padding = (size: number): number =>
  (DEFAULT_ALIGNMENT - (size % DEFAULT_ALIGNMENT)) % DEFAULT_ALIGNMENT;

export function tensorOf({ tensors }: Pick<Opened, 'tensors'>, name: string): TensorPlace {
  const place = tensors.get(name);
  if (place === undefined) throw new Error(`the file has no ${name}`);
  return place;
}

/** The bytes of one tensor after `change`. */
export function withTensor(file: Opened, name: string, change: (bytes: Buffer) => void): Buffer {
  const { from, bytes } = tensorOf(file, name);
  const copy = Buffer.from(file.bytes);
  change(copy.subarray(from, from + bytes));
  return copy;
}

/** Signs of all values of one tensor, or of their scales. */
export const flipped = (file: Opened, name: string): Buffer =>
  withTensor(file, name, (bytes) => {
    for (const [at, byte] of bytes.entries()) bytes[at] = byte ^ 0x80;
  });

/** Two tensors of one form in each other's place. */
export function swapped(file: Opened, one: string, other: string): Buffer {
  const [a, b] = [tensorOf(file, one), tensorOf(file, other)];
  if (a.type !== b.type || a.shape !== b.shape) throw new Error(`${one} and ${other} have other forms`);
  const copy = Buffer.from(file.bytes);
  file.bytes.copy(copy, a.from, b.from, b.from + b.bytes);
  file.bytes.copy(copy, b.from, a.from, a.from + a.bytes);
  return copy;
}

/** All but the first tokens of at least five bytes become words that no text has. */
export function withoutWords(file: Buffer, kept: number): Buffer {
  const copy = Buffer.from(file);
  let lost = 0;
  for (const [id, { from, length }] of tokensIn(copy).entries()) {
    if (id < kept || length < 5 || copy[from] === 0x3c) continue;
    copy.write(`~${id.toString(36)}`.padEnd(length, '~'), from, length, 'latin1');
    lost += 1;
  }
  if (lost === 0) throw new Error('the vocabulary has no long tokens beyond these');
  return copy;
}

const KEY = 'tokenizer.ggml.tokens';

/** Where the text of each token lies. */
function tokensIn(file: Buffer): { readonly from: number; readonly length: number }[] {
  // Key, type of the value, type of its items.
  let at = file.indexOf(KEY) + KEY.length + 8;
  const count = Number(file.readBigUInt64LE(at));
  at += 8;
  return Array.from({ length: count }, () => {
    const length = Number(file.readBigUInt64LE(at));
    const from = at + 8;
    at = from + length;
    return { from, length };
  });
}
