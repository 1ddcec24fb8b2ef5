/**
 * Seeded damage to the header of a real file, whose weights are left out: the rest of the file is a hole, which reads as
 * zeros. CAMPAIGN_GGUF names the files, with colons between them.
 */
import { closeSync, openSync, readSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import {
  DEFAULT_ALIGNMENT,
  SCALAR_BYTES,
  TENSOR_TYPES_BY_CODE,
  VALUE_TYPES_BY_CODE,
  type ScalarType,
} from '../../../packages/gguf/src/format/format.ts';
import type { Random } from '../../../tools/gguf/random.ts';
import { pick } from '../campaign.ts';

const MOST_HEADER_BYTES = 64 * 2 ** 20;
const EDGES = [0, 1, 2, 3, 7, 31, 64, 255, 4096, 65_535, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
const FRACTIONS = [0, -1, 1e-30, 1, 1e30, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
const TOKENIZERS = ['llama', 'gpt2', 'bert', 't5', 'rwkv', 'plamo2', 'none', 'other'];

interface Entry {
  readonly key: string;
  readonly type: ScalarType | 'string' | 'array';
  readonly valueAt: number;
  readonly endAt: number;
}

export interface RealHeader {
  readonly name: string;
  readonly sizeBytes: number;
  readonly header: Buffer;
  readonly entries: readonly Entry[];
  /** Where the type of each tensor stands. */
  readonly types: readonly number[];
}

export const realFiles = (process.env['CAMPAIGN_GGUF'] ?? '').split(':').filter((name) => name !== '');

export function readRealHeader(name: string): RealHeader {
  const sizeBytes = statSync(name).size;
  const bytes = Buffer.alloc(Math.min(sizeBytes, MOST_HEADER_BYTES));
  const file = openSync(name, 'r');
  readSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
  const u64 = (at: number): number => Number(bytes.readBigUInt64LE(at));
  let at = 24;
  const skip = (type: Entry['type']): void => {
    if (type === 'string') {
      at += 8 + u64(at);
    } else if (type === 'array') {
      const of = VALUE_TYPES_BY_CODE.get(bytes.readUInt32LE(at)) ?? 'u8';
      const count = u64(at + 4);
      at += 12;
      if (of === 'string' || of === 'array') for (let left = count; left > 0; left -= 1) skip(of);
      else at += count * SCALAR_BYTES[of];
    } else {
      at += SCALAR_BYTES[type];
    }
  };
  const entries: Entry[] = [];
  for (let left = u64(16); left > 0; left -= 1) {
    const keyBytes = u64(at);
    const key = bytes.toString('utf8', at + 8, at + 8 + keyBytes);
    at += 8 + keyBytes;
    const type = VALUE_TYPES_BY_CODE.get(bytes.readUInt32LE(at)) ?? 'u8';
    at += 4;
    const valueAt = at;
    skip(type);
    entries.push({ key, type, valueAt, endAt: at });
  }
  const types: number[] = [];
  for (let left = u64(8); left > 0; left -= 1) {
    at += 8 + u64(at);
    at += 4 + 8 * bytes.readUInt32LE(at);
    types.push(at);
    at += 12;
  }
  return { name, sizeBytes, header: bytes.subarray(0, at), entries, types };
}

/** Writes a damaged copy; says what was done to it. */
export function writeDamaged(path: string, real: RealHeader, random: Random): string {
  const changes: string[] = [];
  let header = Buffer.from(real.header);
  const at = random.below(5);
  if (at === 0 && real.types.length > 0) {
    const code = pick(random, [...TENSOR_TYPES_BY_CODE.keys()]);
    header.writeUInt32LE(code, pick(random, real.types));
    changes.push(`a tensor of type ${code}`);
  }
  // From the end on, so that the places before stay where they are.
  const chosen = new Set(
    Array.from({ length: 1 + random.below(2) }, () => random.below(real.entries.length)),
  );
  for (const index of [...chosen].toSorted((a, b) => b - a)) {
    const entry = real.entries[index];
    if (entry === undefined) continue;
    const value = damaged(header.subarray(entry.valueAt, entry.endAt), entry, random);
    header = Buffer.concat([header.subarray(0, entry.valueAt), value, header.subarray(entry.endAt)]);
    changes.push(`${entry.key} = ${entry.type === 'array' ? 'damaged' : value.toString('hex').slice(0, 40)}`);
  }
  const dataAt = Math.ceil(header.length / DEFAULT_ALIGNMENT) * DEFAULT_ALIGNMENT;
  writeFileSync(path, header);
  truncateSync(path, dataAt + Math.max(0, real.sizeBytes - real.header.length));
  return changes.join('; ');
}

function damaged(value: Buffer, { key, type }: Entry, random: Random): Buffer {
  const copy = Buffer.from(value);
  switch (type) {
    case 'string': {
      const words = key === 'tokenizer.ggml.model' ? TOKENIZERS : ['', 'x', 'default', 'llama', '{{'];
      const text = Buffer.from(pick(random, words));
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(text.length));
      return Buffer.concat([length, text]);
    }
    case 'f32':
      copy.writeFloatLE(pick(random, FRACTIONS));
      return copy;
    case 'u32':
    case 'i32':
      copy.writeUInt32LE(pick(random, EDGES));
      return copy;
    default:
      // Behind the type and the count of an array.
      copy[Math.min(copy.length - 1, (type === 'array' ? 12 : 0) + random.below(copy.length))] =
        random.below(256);
      return copy;
  }
}
