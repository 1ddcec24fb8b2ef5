/**
 * Random weights made directly in ggml's blocks, at the speed of the disk: random quants under fixed scales that give
 * weights of a usual spread and no values out of range.
 */
import { createCipheriv } from 'node:crypto';
import { type TensorTypeName, tensorType } from '../../packages/gguf/src/format/format.ts';
import { toHalf } from './quantise.ts';
import { type TensorSource, tensorBytes } from './writer.ts';
import type { Random } from './random.ts';

export interface BlockShape {
  readonly type: Extract<TensorTypeName, 'Q4_K' | 'Q6_K' | 'Q8_0' | 'IQ4_XS' | 'F16'>;
  readonly rows: number;
  readonly columns: number;
}

/** Weights spread by about 0.02, as in trained models of this size. */
const SPREAD = 0.02;
const BLOCKS_PER_CHUNK = 8192;
const HALVES_PER_CHUNK = 1 << 20;

export function randomBlocks(name: string, shape: BlockShape, random: Random): TensorSource {
  const seed = random.next();
  const dims = [shape.columns, shape.rows];
  return {
    name,
    type: shape.type,
    dims,
    chunks: () => blockChunks(shape.type, tensorBytes(shape.type, dims), seed),
  };
}

function* blockChunks(type: BlockShape['type'], totalBytes: number, seed: number): Generator<Uint8Array> {
  const { blockBytes } = tensorType(type);
  const random = keystream(seed);
  const chunkBytes = type === 'F16' ? HALVES_PER_CHUNK * blockBytes : BLOCKS_PER_CHUNK * blockBytes;
  for (let left = totalBytes; left > 0; left -= chunkBytes) {
    const chunk = random(Math.min(left, chunkBytes));
    if (type === 'F16') usualHalves(chunk);
    else scaleBlocks(type, chunk, blockBytes);
    yield chunk;
  }
}

/** Gigabytes a second, and the same bytes on every machine: AES in counter mode over zeros. */
function keystream(seed: number): (bytes: number) => Buffer {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(seed);
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  return (bytes) => cipher.update(Buffer.alloc(bytes));
}

function scaleBlocks(type: keyof typeof SCALES, chunk: Buffer, blockBytes: number): void {
  const scale = SCALES[type];
  for (let at = 0; at < chunk.length; at += blockBytes) scale(chunk, at);
}

/** Keeps the signs and the mantissas, and sets the exponents: all values lie between 0.016 and 0.031, or so far below 0. */
function usualHalves(chunk: Buffer): void {
  const pairs = new Uint32Array(chunk.buffer, chunk.byteOffset, chunk.length / 4);
  for (let at = 0; at < pairs.length; at += 1) pairs[at] = ((pairs[at] ?? 0) & 0x83ff_83ff) | 0x2400_2400;
}

/** Two half-precision factors and eight 6-bit scales and minima: weight = step·32·(q − 7.5). */
const Q4_STEP = SPREAD / 4.6 / 32;
const Q4_FACTORS = [toHalf(Q4_STEP), toHalf(Q4_STEP * 7.5)] as const;

function scaleQ4(chunk: Buffer, at: number): void {
  chunk.writeUInt16LE(Q4_FACTORS[0], at);
  chunk.writeUInt16LE(Q4_FACTORS[1], at + 2);
  // The packing of the 6-bit numbers in which every scale and every minimum reads as 32.
  chunk.fill(0xa0, at + 4, at + 12);
  chunk.fill(0, at + 12, at + 16);
}

const Q6_FACTOR = toHalf(SPREAD / 18.5 / 32);

/** Sixteen signed scales after the quants, then one half-precision factor. */
function scaleQ6(chunk: Buffer, at: number): void {
  chunk.fill(32, at + 192, at + 208);
  chunk.writeUInt16LE(Q6_FACTOR, at + 208);
}

/** One half-precision factor before 32 signed bytes. */
const Q8_FACTOR = toHalf(SPREAD / 73.9);

function scaleQ8(chunk: Buffer, at: number): void {
  chunk.writeUInt16LE(Q8_FACTOR, at);
}

const IQ4_FACTOR = toHalf(SPREAD / 70 / 18.5);

/** One half-precision factor; the scales behind it stay random, from -32 to 31, and so do the places in a table of values. */
function scaleIq4(chunk: Buffer, at: number): void {
  chunk.writeUInt16LE(IQ4_FACTOR, at);
}

const SCALES = { Q4_K: scaleQ4, Q6_K: scaleQ6, Q8_0: scaleQ8, IQ4_XS: scaleIq4 } as const;
