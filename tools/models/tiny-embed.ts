/**
 * The tiny embedding model: a BERT of one layer, 768 wide, mean-pooled, about 2.3 MB.
 *
 * Its weights are seeded noise, kept small beside the token embeddings, so a vector is
 * close to an average over letter pairs: texts that share words come out similar, and
 * nothing more is claimed. The same version of this file always writes the same bytes.
 */
import { fileTypeCode, POOLING_TYPE } from '../../packages/gguf/src/format/format.ts';
import { f32, flag, type MetadataValue, text, u32 } from '../gguf/metadata.ts';
import { type GgufContent, type TensorSource, writeGguf } from '../gguf/writer.ts';
import { matrixTensor, randomMatrix, vectorTensor } from '../gguf/matrix.ts';
import { type Random, seededRandom } from '../gguf/random.ts';
import { wordPieceMetadata, wordPieces } from './word-pieces.ts';

export interface TinyEmbedOptions {
  readonly name?: string;
  /** A multiple of 384, which divides into heads of 64 and blocks of 32. Default: 768. */
  readonly width?: number;
  readonly contextLength?: number;
  readonly seed?: number;
  /** Default: 1. */
  readonly layers?: number;
  /** A multiple of 32. Default: 64. */
  readonly feedForward?: number;
  /** Whether it scores pairs: the first token looks at all others, and a classifier reads it. */
  readonly ranks?: boolean;
}

const HEAD_WIDTH = 64;
/** Layers only season the token embeddings, whose spread is 1. */
const LAYER_SPREAD = 0.01;
/** One that ranks sees its pair through the layers only. */
const RANKING_SPREAD = 0.2;

export function writeTinyEmbed(path: string, options: TinyEmbedOptions = {}): Promise<number> {
  return writeGguf(path, tinyEmbedContent(options));
}

export function tinyEmbedContent(options: TinyEmbedOptions = {}): GgufContent {
  const width = options.width ?? 768;
  const contextLength = options.contextLength ?? 512;
  const { layers = 1, feedForward = 64, ranks = false } = options;
  const pieces = wordPieces();
  const random = seededRandom(options.seed ?? 2);
  const tensors = [
    matrixTensor('token_embd.weight', randomMatrix(pieces.length, width, random, 1), 'Q4_0'),
    matrixTensor('position_embd.weight', randomMatrix(contextLength, width, random, 0.05), 'Q4_0'),
    matrixTensor('token_types.weight', randomMatrix(2, width, random, 0.05), 'F32'),
    ...normTensors('token_embd_norm', width),
  ];
  const shape = { width, contextLength, layers, feedForward, ranks };
  for (let layer = 0; layer < layers; layer += 1) tensors.push(...layerTensors(layer, shape, random));
  if (ranks) tensors.push(...classifierTensors(width, random));
  return {
    metadata: { ...embedMetadata(options.name, shape), ...wordPieceMetadata(pieces) },
    tensors,
  };
}

interface Shape {
  readonly width: number;
  readonly contextLength: number;
  readonly layers: number;
  readonly feedForward: number;
  readonly ranks: boolean;
}

function embedMetadata(name: string | undefined, shape: Shape): Record<string, MetadataValue> {
  const { width, contextLength, layers, feedForward } = shape;
  return {
    'general.architecture': text('bert'),
    'general.name': text(name ?? 'Tiny Embed'),
    'general.license': text('apache-2.0'),
    'general.file_type': u32(fileTypeCode('Q4_0')),
    'bert.context_length': u32(contextLength),
    'bert.embedding_length': u32(width),
    'bert.block_count': u32(layers),
    'bert.feed_forward_length': u32(feedForward),
    'bert.attention.head_count': u32(width / HEAD_WIDTH),
    'bert.attention.layer_norm_epsilon': f32(1e-12),
    'bert.attention.causal': flag(false),
    'bert.pooling_type': u32(shape.ranks ? POOLING_TYPE.rank : POOLING_TYPE.mean),
  };
}

function layerTensors(layer: number, { width, feedForward, ranks }: Shape, random: Random): TensorSource[] {
  const spread = ranks ? RANKING_SPREAD : LAYER_SPREAD;
  const weight = (name: string, rows: number, columns: number): TensorSource[] => [
    matrixTensor(`blk.${layer}.${name}.weight`, randomMatrix(rows, columns, random, spread), 'Q4_0'),
    vectorTensor(`blk.${layer}.${name}.bias`, rows, 0),
  ];
  return [
    ...weight('attn_q', width, width),
    ...weight('attn_k', width, width),
    ...weight('attn_v', width, width),
    ...weight('attn_output', width, width),
    ...normTensors(`blk.${layer}.attn_output_norm`, width),
    ...weight('ffn_up', feedForward, width),
    ...weight('ffn_down', width, feedForward),
    ...normTensors(`blk.${layer}.layer_output_norm`, width),
  ];
}

/** One score, from a dense layer over the first token. */
function classifierTensors(width: number, random: Random): TensorSource[] {
  return [
    matrixTensor('cls.weight', randomMatrix(width, width, random, 1 / Math.sqrt(width)), 'F32'),
    vectorTensor('cls.bias', width, 0),
    matrixTensor('cls.output.weight', randomMatrix(1, width, random, 1), 'F32'),
    vectorTensor('cls.output.bias', 1, 0),
  ];
}

function normTensors(name: string, width: number): TensorSource[] {
  return [vectorTensor(`${name}.weight`, width, 1), vectorTensor(`${name}.bias`, width, 0)];
}
