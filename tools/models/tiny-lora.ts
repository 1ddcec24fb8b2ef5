/** A LoRA adapter of the tiny chat model: it changes the queries of both layers, by random matrices of rank 2. */
import { matrixTensor, randomMatrix } from '../gguf/matrix.ts';
import { f32, type MetadataValue, text } from '../gguf/metadata.ts';
import { seededRandom } from '../gguf/random.ts';
import { type GgufContent, writeGguf } from '../gguf/writer.ts';
import { TINY_SHAPE } from './tiny-shape.ts';

export interface TinyLoraOptions {
  readonly metadata?: Readonly<Record<string, MetadataValue>>;
  /** Base names of the changed tensors; default: the queries. */
  readonly tensors?: readonly string[];
  /** Columns of the changed matrices. */
  readonly width?: number;
  readonly seed?: number;
}

const RANK = 2;

export function writeTinyLora(path: string, options: TinyLoraOptions = {}): Promise<number> {
  return writeGguf(path, tinyLoraContent(options));
}

export function tinyLoraContent(options: TinyLoraOptions = {}): GgufContent {
  const { width = TINY_SHAPE.width, seed = 7 } = options;
  const { layers, heads, headWidth } = TINY_SHAPE;
  const queries = Array.from({ length: layers }, (_, layer) => `blk.${layer}.attn_q.weight`);
  const random = seededRandom(seed);
  return {
    metadata: {
      'general.architecture': text('llama'),
      'general.type': text('adapter'),
      'general.name': text('Tiny LoRA'),
      'adapter.type': text('lora'),
      'adapter.lora.alpha': f32(4),
      ...options.metadata,
    },
    tensors: (options.tensors ?? queries).flatMap((name) => [
      matrixTensor(`${name}.lora_a`, randomMatrix(RANK, width, random, 1), 'F32'),
      matrixTensor(`${name}.lora_b`, randomMatrix(heads * headWidth, RANK, random, 1), 'F32'),
    ]),
  };
}
