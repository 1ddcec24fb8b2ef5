/**
 * A model of realistic size with random weights, for benchmarks: 28 layers, 1024 wide, a
 * vocabulary of 151,936, about 480 MB. It says nothing, but it costs what a real model of
 * 0.6 billion parameters costs. Written where it is needed and never kept in a repository.
 */
import { fileTypeCode, TOKEN_TYPE } from '../../src/lib/gguf/format/format.ts';
import { f32, text, u32 } from '../gguf/metadata.ts';
import { type GgufContent, type TensorSource, writeGguf } from '../gguf/writer.ts';
import { byteVocabulary, type ByteVocabulary, vocabularyMetadata } from './byte-vocabulary.ts';
import { vectorTensor } from '../gguf/matrix.ts';
import { randomBlocks } from '../gguf/random-blocks.ts';
import { type Random, seededRandom } from '../gguf/random.ts';
import { CHATML_TEMPLATE } from './tiny-chat.ts';
import { TINY_WORDS } from './tiny-words.ts';

export interface LargeOptions {
  readonly layers?: number;
  readonly vocabularySize?: number;
  readonly contextLength?: number;
  readonly seed?: number;
}

const SHAPE = { width: 1024, heads: 16, headsKv: 8, headWidth: 128, feedForward: 3072 } as const;

/** Takes a few seconds and writes about 480 MB; returns the size in bytes. */
export function writeLarge(path: string, options: LargeOptions = {}): Promise<number> {
  return writeGguf(path, largeContent(options));
}

export function largeContent(options: LargeOptions = {}): GgufContent {
  const layers = options.layers ?? 28;
  const vocabulary = fillVocabulary(byteVocabulary(TINY_WORDS), options.vocabularySize ?? 151_936);
  const random = seededRandom(options.seed ?? 4);
  const tensors = [
    randomBlocks(
      'token_embd.weight',
      { type: 'Q4_K', rows: vocabulary.tokens.length, columns: SHAPE.width },
      random,
    ),
    vectorTensor('output_norm.weight', SHAPE.width, 1),
    randomBlocks(
      'output.weight',
      { type: 'Q6_K', rows: vocabulary.tokens.length, columns: SHAPE.width },
      random,
    ),
  ];
  for (let layer = 0; layer < layers; layer += 1) tensors.push(...layerTensors(layer, random));
  return {
    metadata: {
      'general.architecture': text('qwen3'),
      'general.name': text('Random weights for benchmarks'),
      'general.file_type': u32(fileTypeCode('Q4_K_M')),
      'qwen3.context_length': u32(options.contextLength ?? 8192),
      'qwen3.embedding_length': u32(SHAPE.width),
      'qwen3.block_count': u32(layers),
      'qwen3.feed_forward_length': u32(SHAPE.feedForward),
      'qwen3.attention.head_count': u32(SHAPE.heads),
      'qwen3.attention.head_count_kv': u32(SHAPE.headsKv),
      'qwen3.attention.key_length': u32(SHAPE.headWidth),
      'qwen3.attention.value_length': u32(SHAPE.headWidth),
      'qwen3.attention.layer_norm_rms_epsilon': f32(1e-6),
      'qwen3.rope.freq_base': f32(1_000_000),
      'tokenizer.chat_template': text(CHATML_TEMPLATE),
      ...vocabularyMetadata(vocabulary),
    },
    tensors,
  };
}

function layerTensors(layer: number, random: Random): TensorSource[] {
  const { width, heads, headsKv, headWidth, feedForward } = SHAPE;
  const weight = (
    name: string,
    rows: number,
    columns: number,
    type: 'Q4_K' | 'Q6_K' = 'Q4_K',
  ): TensorSource => {
    return randomBlocks(`blk.${layer}.${name}.weight`, { type, rows, columns }, random);
  };
  const norm = (name: string, length: number): TensorSource =>
    vectorTensor(`blk.${layer}.${name}.weight`, length, 1);
  // Q4_K_M keeps half of the value and down projections in Q6_K.
  const better = layer % 2 === 0 ? 'Q6_K' : 'Q4_K';
  return [
    norm('attn_norm', width),
    weight('attn_q', heads * headWidth, width),
    weight('attn_k', headsKv * headWidth, width),
    weight('attn_v', headsKv * headWidth, width, better),
    weight('attn_output', width, heads * headWidth),
    norm('attn_q_norm', headWidth),
    norm('attn_k_norm', headWidth),
    norm('ffn_norm', width),
    weight('ffn_gate', feedForward, width),
    weight('ffn_up', feedForward, width),
    weight('ffn_down', width, feedForward, better),
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
