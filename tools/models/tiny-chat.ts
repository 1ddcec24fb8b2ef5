/**
 * tools/models owns the models that tests and benchmarks run: written by code, the same bytes everywhere. It knows
 * nothing of the product but the GGUF format, and no part of it ships.
 *
 * This file: a llama-architecture network of two layers and about 300 KB that loads in milliseconds. It has learned
 * nothing; it strings everyday words together. Three traits are built into its weights, to test a service with:
 * - it ends its turn after the first full stop;
 * - it never ends its turn if the word "forever" stands anywhere in the context;
 * - once a "{" stands in the context it likes closing quotes, so JSON strings stay short.
 */
import { fileTypeCode } from '../../packages/gguf/src/format/format.ts';
import { f32, type MetadataValue, text, u32 } from '../gguf/metadata.ts';
import { type GgufContent, writeGguf } from '../gguf/writer.ts';
import { type ByteVocabulary, byteVocabulary, GAP_TOKENS, vocabularyMetadata } from './byte-vocabulary.ts';
import { matrixTensor, vectorTensor } from '../gguf/matrix.ts';
import { attentionWeights, embeddingWeights, feedForwardWeights, outputWeights } from './tiny-weights.ts';
import { TINY_SHAPE } from './tiny-shape.ts';
import { seededRandom } from '../gguf/random.ts';
import { TINY_WORDS } from './tiny-words.ts';

export interface TinyChatOptions {
  readonly name?: string;
  /** A Jinja chat template; `null` writes a model without one. Default: ChatML. */
  readonly chatTemplate?: string | null;
  readonly contextLength?: number;
  readonly seed?: number;
  /** True: the vocabulary has tokens for text before and behind a gap. */
  readonly fillsGaps?: boolean;
  /** Further control tokens. */
  readonly tokens?: readonly string[];
}

export const CHATML_TEMPLATE = [
  '{% for message in messages %}',
  "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}",
  '{% endfor %}',
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
].join('');

export function writeTinyChat(path: string, options: TinyChatOptions = {}): Promise<number> {
  return writeGguf(path, tinyChatContent(options));
}

export function tinyChatContent(options: TinyChatOptions = {}): GgufContent {
  const further = [...(options.fillsGaps === true ? GAP_TOKENS : []), ...(options.tokens ?? [])];
  const vocabulary = byteVocabulary(TINY_WORDS, further);
  return {
    metadata: {
      ...tinyChatMetadata(options),
      ...templateMetadata(options),
      ...vocabularyMetadata(vocabulary),
    },
    tensors: tinyChatTensors(vocabulary, options.seed ?? 1),
  };
}

export function tinyVocabulary(): ByteVocabulary {
  return byteVocabulary(TINY_WORDS);
}

function tinyChatMetadata(options: TinyChatOptions): Record<string, MetadataValue> {
  const { width, layers, heads, headsKv, headWidth, feedForward, ropeBase } = TINY_SHAPE;
  return {
    'general.architecture': text('llama'),
    'general.name': text(options.name ?? 'Tiny Chat'),
    'general.license': text('apache-2.0'),
    'general.file_type': u32(fileTypeCode('F16')),
    'llama.context_length': u32(options.contextLength ?? 2048),
    'llama.embedding_length': u32(width),
    'llama.block_count': u32(layers),
    'llama.feed_forward_length': u32(feedForward),
    'llama.attention.head_count': u32(heads),
    'llama.attention.head_count_kv': u32(headsKv),
    'llama.attention.layer_norm_rms_epsilon': f32(1e-5),
    'llama.rope.dimension_count': u32(headWidth),
    'llama.rope.freq_base': f32(ropeBase),
  };
}

export function templateMetadata(options: TinyChatOptions): Record<string, MetadataValue> {
  const template = options.chatTemplate === undefined ? CHATML_TEMPLATE : options.chatTemplate;
  return template === null ? {} : { 'tokenizer.chat_template': text(template) };
}

function tinyChatTensors(vocabulary: ByteVocabulary, seed: number): GgufContent['tensors'] {
  const { width, layers } = TINY_SHAPE;
  const random = seededRandom(seed);
  const embedding = embeddingWeights(vocabulary, random);
  const tensors = [
    matrixTensor('token_embd.weight', embedding),
    vectorTensor('output_norm.weight', width, 1),
    matrixTensor('output.weight', outputWeights(vocabulary, embedding, random)),
  ];
  for (let layer = 0; layer < layers; layer += 1) {
    const attention = attentionWeights(layer, random);
    const feedForward = feedForwardWeights(random);
    tensors.push(
      vectorTensor(`blk.${layer}.attn_norm.weight`, width, 1),
      matrixTensor(`blk.${layer}.attn_q.weight`, attention.query),
      matrixTensor(`blk.${layer}.attn_k.weight`, attention.key),
      matrixTensor(`blk.${layer}.attn_v.weight`, attention.value),
      matrixTensor(`blk.${layer}.attn_output.weight`, attention.output),
      vectorTensor(`blk.${layer}.ffn_norm.weight`, width, 1),
      matrixTensor(`blk.${layer}.ffn_gate.weight`, feedForward.gate),
      matrixTensor(`blk.${layer}.ffn_up.weight`, feedForward.up),
      matrixTensor(`blk.${layer}.ffn_down.weight`, feedForward.down),
    );
  }
  return tensors;
}
