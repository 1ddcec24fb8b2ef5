/**
 * Relatives of the tiny chat model whose memory works differently: one attends to a short
 * sliding window, one keeps a recurrent state. Same vocabulary and size. They too end
 * after a full stop, but "forever" and "{" mean nothing to them. They serve the tests of prompt reuse, since
 * neither can be cut back to an arbitrary prefix as a plain attention model can.
 */
import { fileTypeCode } from '../../src/lib/gguf/format/format.ts';
import { f32, type MetadataValue, text, u32 } from '../gguf/metadata.ts';
import { quantise } from '../gguf/quantise.ts';
import { type GgufContent, type TensorSource, writeGguf } from '../gguf/writer.ts';
import { vocabularyMetadata } from './byte-vocabulary.ts';
import { clearRows, type Matrix, matrixTensor, randomMatrix, setCell, vectorTensor } from '../gguf/matrix.ts';
import { type Random, seededRandom } from '../gguf/random.ts';
import { type TinyChatOptions, templateMetadata, tinyVocabulary } from './tiny-chat.ts';
import { CHANNEL } from './tiny-shape.ts';
import { embeddingWeights, outputWeights } from './tiny-weights.ts';

const WIDTH = 64;
const LAYERS = 2;

/** Gemma 3 architecture; every position sees the last 32 only. */
export function writeTinySlidingWindow(path: string, options: TinyChatOptions = {}): Promise<number> {
  return writeGguf(path, slidingWindowContent(options));
}

/** Mamba architecture: no attention, a state of fixed size. */
export function writeTinyRecurrent(path: string, options: TinyChatOptions = {}): Promise<number> {
  return writeGguf(path, recurrentContent(options));
}

export function slidingWindowContent(options: TinyChatOptions = {}): GgufContent {
  return variant('gemma3', options, {
    settings: {
      feed_forward_length: u32(128),
      'attention.head_count': u32(4),
      'attention.head_count_kv': u32(2),
      'attention.key_length': u32(16),
      'attention.value_length': u32(16),
      'attention.sliding_window': u32(32),
      'rope.freq_base': f32(10_000),
    },
    // Gemma multiplies its embeddings by the square root of their width.
    embeddingScale: 1 / Math.sqrt(WIDTH),
    fullStop: 1,
    layer: slidingWindowLayer,
  });
}

export function recurrentContent(options: TinyChatOptions = {}): GgufContent {
  return variant('mamba', options, {
    settings: {
      feed_forward_length: u32(0),
      'attention.head_count': u32(0),
      'ssm.conv_kernel': u32(SSM.kernel),
      'ssm.inner_size': u32(SSM.inner),
      'ssm.state_size': u32(SSM.state),
      'ssm.time_step_rank': u32(SSM.rank),
    },
    embeddingScale: 1,
    fullStop: 2,
    layer: recurrentLayer,
  });
}

interface Variant {
  readonly settings: Readonly<Record<string, MetadataValue>>;
  readonly embeddingScale: number;
  /** How likely a full stop is; it depends on how loud the layers are. */
  readonly fullStop: number;
  readonly layer: (index: number, random: Random) => TensorSource[];
}

function variant(architecture: string, options: TinyChatOptions, parts: Variant): GgufContent {
  const vocabulary = tinyVocabulary();
  const random = seededRandom(options.seed ?? 3);
  const embedding = embeddingWeights(vocabulary, random);
  const scaled = embedding.values.map((value) => value * parts.embeddingScale);
  const output = outputWeights(vocabulary, embedding, random);
  setCell(output, vocabulary.idOf('.'), CHANNEL.constant, parts.fullStop);
  const tensors = [
    matrixTensor('token_embd.weight', { ...embedding, values: scaled }),
    matrixTensor('output.weight', output),
    vectorTensor('output_norm.weight', WIDTH, 1),
  ];
  for (let layer = 0; layer < LAYERS; layer += 1) tensors.push(...parts.layer(layer, random));
  const settings: Record<string, MetadataValue> = {
    'general.architecture': text(architecture),
    'general.name': text(options.name ?? `Tiny ${architecture}`),
    'general.file_type': u32(fileTypeCode('F16')),
    [`${architecture}.context_length`]: u32(options.contextLength ?? 2048),
    [`${architecture}.embedding_length`]: u32(WIDTH),
    [`${architecture}.block_count`]: u32(LAYERS),
    [`${architecture}.attention.layer_norm_rms_epsilon`]: f32(1e-5),
  };
  for (const [key, value] of Object.entries(parts.settings)) settings[`${architecture}.${key}`] = value;
  return {
    metadata: { ...settings, ...templateMetadata(options), ...vocabularyMetadata(vocabulary) },
    tensors,
  };
}

function slidingWindowLayer(index: number, random: Random): TensorSource[] {
  const weight = (name: string, rows: number, columns: number): TensorSource => {
    return matrixTensor(
      `blk.${index}.${name}.weight`,
      randomMatrix(rows, columns, random, 1.5 / Math.sqrt(columns)),
    );
  };
  const norm = (name: string, length: number): TensorSource =>
    vectorTensor(`blk.${index}.${name}.weight`, length, 1);
  return [
    norm('attn_norm', WIDTH),
    weight('attn_q', 64, WIDTH),
    weight('attn_k', 32, WIDTH),
    weight('attn_v', 32, WIDTH),
    residual(`blk.${index}.attn_output.weight`, 64, random),
    norm('attn_q_norm', 16),
    norm('attn_k_norm', 16),
    vectorTensor(`blk.${index}.post_attention_norm.weight`, WIDTH, 2),
    norm('ffn_norm', WIDTH),
    weight('ffn_gate', 128, WIDTH),
    weight('ffn_up', 128, WIDTH),
    residual(`blk.${index}.ffn_down.weight`, 128, random),
    vectorTensor(`blk.${index}.post_ffw_norm.weight`, WIDTH, 2),
  ];
}

const SSM = { kernel: 4, inner: 128, state: 16, rank: 4 } as const;

function recurrentLayer(index: number, random: Random): TensorSource[] {
  const { kernel, inner, state, rank } = SSM;
  const name = (part: string): string => `blk.${index}.${part}`;
  const noise = (rows: number, columns: number): Matrix =>
    randomMatrix(rows, columns, random, 1.5 / Math.sqrt(columns));
  return [
    vectorTensor(name('attn_norm.weight'), WIDTH, 1),
    matrixTensor(name('ssm_in.weight'), noise(2 * inner, WIDTH)),
    matrixTensor(name('ssm_conv1d.weight'), noise(inner, kernel), 'F32'),
    vectorTensor(name('ssm_conv1d.bias'), inner, 0),
    matrixTensor(name('ssm_x.weight'), noise(rank + 2 * state, inner)),
    matrixTensor(name('ssm_dt.weight'), noise(inner, rank)),
    // Small steps, so that what was said long ago still counts.
    vectorTensor(name('ssm_dt.bias'), inner, -4),
    { ...vectorTensor(name('ssm_a'), state * inner, 0), dims: [state, inner], chunks: decayRates },
    vectorTensor(name('ssm_d'), inner, 1),
    residual(name('ssm_out.weight'), inner, random),
  ];
}

/** Mamba's customary start: the n-th state of every channel decays at rate n. */
function decayRates(): Uint8Array[] {
  const { inner, state } = SSM;
  return [
    quantise(
      'F32',
      Float32Array.from({ length: inner * state }, (_, at) => -((at % state) + 1)),
    ),
  ];
}

/** A projection back into the residual, which leaves the channels of the traits alone. */
function residual(name: string, columns: number, random: Random): TensorSource {
  const matrix = randomMatrix(WIDTH, columns, random, 1.5 / Math.sqrt(columns));
  clearRows(matrix, 0, CHANNEL.free);
  return matrixTensor(name, matrix);
}
