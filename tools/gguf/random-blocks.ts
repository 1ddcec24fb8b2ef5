/**
 * Random weights made directly in ggml's K-quant blocks, at the speed of the disk: random
 * quants under fixed scales that give weights of a usual spread and no values out of range.
 */
import { type TensorTypeName, tensorType } from '../../src/lib/gguf/format/format.ts';
import { toHalf } from './quantise.ts';
import { type TensorSource, tensorBytes } from './writer.ts';
import { type Random, seededRandom } from './random.ts';

export interface BlockShape {
  readonly type: Extract<TensorTypeName, 'Q4_K' | 'Q6_K'>;
  readonly rows: number;
  readonly columns: number;
}

/** Weights spread by about 0.02, as in trained models of this size. */
const SPREAD = 0.02;
const BLOCKS_PER_CHUNK = 8192;

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
  const random = seededRandom(seed);
  for (let left = totalBytes; left > 0; left -= BLOCKS_PER_CHUNK * blockBytes) {
    const words = new Uint32Array(Math.ceil(Math.min(left, BLOCKS_PER_CHUNK * blockBytes) / 4));
    for (let index = 0; index < words.length; index += 1) words[index] = random.next();
    const chunk = new Uint8Array(words.buffer, 0, Math.min(left, BLOCKS_PER_CHUNK * blockBytes));
    for (let at = 0; at < chunk.length; at += blockBytes) {
      if (type === 'Q4_K') scaleQ4(chunk, at);
      else scaleQ6(chunk, at);
    }
    yield chunk;
  }
}

/** Two half-precision factors and eight 6-bit scales and minima: weight = step·32·(q − 7.5). */
function scaleQ4(chunk: Uint8Array, at: number): void {
  const view = new DataView(chunk.buffer, chunk.byteOffset + at);
  const step = SPREAD / 4.6 / 32;
  view.setUint16(0, toHalf(step), true);
  view.setUint16(2, toHalf(step * 7.5), true);
  // The packing of the 6-bit numbers in which every scale and every minimum reads as 32.
  chunk.fill(0xa0, at + 4, at + 12);
  chunk.fill(0, at + 12, at + 16);
}

/** Sixteen signed scales after the quants, then one half-precision factor. */
function scaleQ6(chunk: Uint8Array, at: number): void {
  const view = new DataView(chunk.buffer, chunk.byteOffset + at);
  for (let index = 0; index < 16; index += 1) view.setInt8(192 + index, 32);
  view.setUint16(208, toHalf(SPREAD / 18.5 / 32), true);
}
