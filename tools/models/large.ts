/**
 * Models of realistic size with random weights, for benchmarks. They say nothing, but each costs what a real model of
 * its shape costs. Written where they are needed and never kept in a repository.
 */
import { fileTypeCode, TOKEN_TYPE } from '../../packages/gguf/src/format/format.ts';
import { f32, text, u32 } from '../gguf/metadata.ts';
import { type GgufContent, type TensorSource, writeGguf } from '../gguf/writer.ts';
import { byteVocabulary, type ByteVocabulary, vocabularyMetadata } from './byte-vocabulary.ts';
import { vectorTensor } from '../gguf/matrix.ts';
import { randomBlocks } from '../gguf/random-blocks.ts';
import { type Random, seededRandom } from '../gguf/random.ts';
import { CHATML_TEMPLATE } from './tiny-chat.ts';
import { TINY_WORDS } from './tiny-words.ts';

/** By the billions of parameters, as the shapes of Qwen3 0.6B and 8B and of Llama 3.2 1B are. */
const SHAPES = {
  '0.6b': { layers: 28, width: 1024, heads: 16, headsKv: 8, headWidth: 128, feedForward: 3072 },
  '1b': { layers: 16, width: 2048, heads: 32, headsKv: 8, headWidth: 64, feedForward: 8192 },
  '8b': { layers: 36, width: 4096, heads: 32, headsKv: 8, headWidth: 128, feedForward: 12_288 },
} as const;
export type LargeShape = keyof typeof SHAPES;
export const LARGE_SHAPES = Object.keys(SHAPES) as readonly LargeShape[];

export const LARGE_TYPES = ['Q4_K_M', 'Q8_0', 'F16', 'IQ4_XS'] as const;
export type LargeType = (typeof LARGE_TYPES)[number];

export interface LargeOptions {
  readonly shape?: LargeShape;
  readonly type?: LargeType;
  readonly layers?: number;
  readonly vocabularySize?: number;
  readonly contextLength?: number;
  readonly seed?: number;
}

/** Takes a second or two for each gigabyte; returns the size in bytes. */
export function writeLarge(path: string, options: LargeOptions = {}): Promise<number> {
  return writeGguf(path, largeContent(options));
}

export function largeContent(options: LargeOptions = {}): GgufContent {
  const shape = SHAPES[options.shape ?? '0.6b'];
  const type = options.type ?? 'Q4_K_M';
  const layers = options.layers ?? shape.layers;
  const vocabulary = fillVocabulary(byteVocabulary(TINY_WORDS), options.vocabularySize ?? 151_936);
  const random = seededRandom(options.seed ?? 4);
  const weight = weightsOf(type, random);
  const tensors = [
    weight('token_embd', vocabulary.tokens.length, shape.width),
    vectorTensor('output_norm.weight', shape.width, 1),
    weight('output', vocabulary.tokens.length, shape.width, 'Q6_K'),
  ];
  for (let layer = 0; layer < layers; layer += 1) tensors.push(...layerTensors(shape, layer, weight));
  return {
    metadata: {
      'general.architecture': text('qwen3'),
      'general.name': text('Random weights for benchmarks'),
      'general.file_type': u32(fileTypeCode(type)),
      'qwen3.context_length': u32(options.contextLength ?? 8192),
      'qwen3.embedding_length': u32(shape.width),
      'qwen3.block_count': u32(layers),
      'qwen3.feed_forward_length': u32(shape.feedForward),
      'qwen3.attention.head_count': u32(shape.heads),
      'qwen3.attention.head_count_kv': u32(shape.headsKv),
      'qwen3.attention.key_length': u32(shape.headWidth),
      'qwen3.attention.value_length': u32(shape.headWidth),
      'qwen3.attention.layer_norm_rms_epsilon': f32(1e-6),
      'qwen3.rope.freq_base': f32(1_000_000),
      'tokenizer.chat_template': text(CHATML_TEMPLATE),
      ...vocabularyMetadata(vocabulary),
    },
    tensors,
  };
}

/** A matrix by its name, in the type of the file; of Q4_K_M, in Q4_K unless the mix has it better. */
type Weight = (name: string, rows: number, columns: number, mixed?: 'Q4_K' | 'Q6_K') => TensorSource;

function weightsOf(type: LargeType, random: Random): Weight {
  return (name, rows, columns, mixed = 'Q4_K') =>
    randomBlocks(`${name}.weight`, { type: type === 'Q4_K_M' ? mixed : type, rows, columns }, random);
}

function layerTensors(shape: (typeof SHAPES)[LargeShape], layer: number, weight: Weight): TensorSource[] {
  const { width, heads, headsKv, headWidth, feedForward } = shape;
  const name = (part: string): string => `blk.${layer}.${part}`;
  const norm = (part: string, length: number): TensorSource =>
    vectorTensor(`${name(part)}.weight`, length, 1);
  // Q4_K_M keeps half of the value and down projections in Q6_K.
  const better = layer % 2 === 0 ? 'Q6_K' : 'Q4_K';
  return [
    norm('attn_norm', width),
    weight(name('attn_q'), heads * headWidth, width),
    weight(name('attn_k'), headsKv * headWidth, width),
    weight(name('attn_v'), headsKv * headWidth, width, better),
    weight(name('attn_output'), width, heads * headWidth),
    norm('attn_q_norm', headWidth),
    norm('attn_k_norm', headWidth),
    norm('ffn_norm', width),
    weight(name('ffn_gate'), feedForward, width),
    weight(name('ffn_up'), feedForward, width),
    weight(name('ffn_down'), width, feedForward, better),
  ];
}

/** Adds words that text never contains but that can be generated and printed. */
function fillVocabulary(vocabulary: ByteVocabulary, size: number): ByteVocabulary {
  const fillers = Array.from({ length: size - vocabulary.tokens.length }, (_, index) => `Ġw${index}`);
  return {
    ...vocabulary,
    tokens: [...vocabulary.tokens, ...fillers],
    tokenTypes: [...vocabulary.tokenTypes, ...fillers.map(() => TOKEN_TYPE.normal)],
  };
}
