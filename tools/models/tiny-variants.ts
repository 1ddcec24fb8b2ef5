/**
 * Relatives of the tiny chat model that compute differently: one attends to a short sliding window, one keeps a
 * recurrent state, one has both attention and a convolution's state, one routes tokens among experts. Same vocabulary and size. They too end
 * after a full stop, but "forever" and "{" mean nothing to them. They serve the tests of prompt reuse, since
 * neither can be cut back to an arbitrary prefix as a plain attention model can.
 */
import { fileTypeCode } from '../../packages/gguf/src/format/format.ts';
import { f32, type MetadataValue, scalars, text, u32 } from '../gguf/metadata.ts';
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
export interface SlidingWindowOptions extends TinyChatOptions {
  /** Tokens. */
  readonly window?: number;
}

export function writeTinySlidingWindow(path: string, options: SlidingWindowOptions = {}): Promise<number> {
  return writeGguf(path, slidingWindowContent(options));
}

/** Mamba architecture: no attention, a state of fixed size. */
export function writeTinyRecurrent(path: string, options: TinyChatOptions = {}): Promise<number> {
  return writeGguf(path, recurrentContent(options));
}

/** LFM2 architecture: a layer that keeps the last inputs of a convolution, and a layer with attention. */
export function writeTinyHybrid(path: string, options: TinyChatOptions = {}): Promise<number> {
  return writeGguf(path, hybridContent(options));
}

/** Qwen3-MoE architecture: each token goes to two of eight experts. */
export function writeTinyExperts(path: string, options: TinyChatOptions = {}): Promise<number> {
  return writeGguf(path, expertsContent(options));
}

export function hybridContent(options: TinyChatOptions = {}): GgufContent {
  return variant('lfm2', options, {
    settings: {
      feed_forward_length: u32(128),
      vocab_size: u32(tinyVocabulary().tokens.length),
      'attention.head_count': u32(4),
      'attention.head_count_kv': scalars('i32', [0, 2]),
      'rope.freq_base': f32(10_000),
      'shortconv.l_cache': u32(3),
    },
    embeddingScale: 1,
    fullStop: 2,
    outputNorm: 'token_embd_norm.weight',
    layer: hybridLayer,
  });
}

export function expertsContent(options: TinyChatOptions = {}): GgufContent {
  return variant('qwen3moe', options, {
    settings: {
      feed_forward_length: u32(128),
      'attention.head_count': u32(4),
      'attention.head_count_kv': u32(2),
      'attention.key_length': u32(16),
      'attention.value_length': u32(16),
      'rope.freq_base': f32(10_000),
      expert_count: u32(EXPERTS.count),
      expert_used_count: u32(2),
      expert_feed_forward_length: u32(EXPERTS.width),
    },
    embeddingScale: 1,
    fullStop: 2,
    layer: expertsLayer,
  });
}

export function slidingWindowContent({ window = 32, ...options }: SlidingWindowOptions = {}): GgufContent {
  return variant('gemma3', options, {
    settings: {
      feed_forward_length: u32(128),
      'attention.head_count': u32(4),
      'attention.head_count_kv': u32(2),
      'attention.key_length': u32(16),
      'attention.value_length': u32(16),
      'attention.sliding_window': u32(window),
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
  /** Absent: `output_norm.weight`. */
  readonly outputNorm?: string;
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
    vectorTensor(parts.outputNorm ?? 'output_norm.weight', WIDTH, 1),
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

const EXPERTS = { count: 8, width: 32 } as const;

/** Query, key, value and output of an attention with norms over its heads. */
function attentionTensors(index: number, random: Random): TensorSource[] {
  const name = (part: string): string => `blk.${index}.${part}.weight`;
  const weight = (part: string, rows: number): TensorSource =>
    matrixTensor(name(part), randomMatrix(rows, WIDTH, random, 1.5 / Math.sqrt(WIDTH)));
  return [
    weight('attn_q', 64),
    weight('attn_k', 32),
    weight('attn_v', 32),
    residual(name('attn_output'), 64, random),
    vectorTensor(name('attn_q_norm'), 16, 1),
    vectorTensor(name('attn_k_norm'), 16, 1),
  ];
}

function hybridLayer(index: number, random: Random): TensorSource[] {
  const name = (part: string): string => `blk.${index}.${part}.weight`;
  const noise = (rows: number, columns: number): Matrix =>
    randomMatrix(rows, columns, random, 1.5 / Math.sqrt(columns));
  const mixing =
    index === 0
      ? [
          matrixTensor(name('shortconv.conv'), noise(WIDTH, 3), 'F32'),
          matrixTensor(name('shortconv.in_proj'), noise(3 * WIDTH, WIDTH)),
          residual(name('shortconv.out_proj'), WIDTH, random),
        ]
      : attentionTensors(index, random);
  return [
    vectorTensor(name('attn_norm'), WIDTH, 1),
    ...mixing,
    vectorTensor(name('ffn_norm'), WIDTH, 1),
    matrixTensor(name('ffn_gate'), noise(128, WIDTH)),
    matrixTensor(name('ffn_up'), noise(128, WIDTH)),
    residual(name('ffn_down'), 128, random),
  ];
}

function expertsLayer(index: number, random: Random): TensorSource[] {
  const { count, width } = EXPERTS;
  const name = (part: string): string => `blk.${index}.${part}.weight`;
  const router = randomMatrix(count, WIDTH, random, 1.5 / Math.sqrt(WIDTH));
  const experts = (part: string, rows: number, columns: number): TensorSource => {
    const matrix = randomMatrix(count * rows, columns, random, 1.5 / Math.sqrt(columns));
    // Back into the residual, of which the traits' channels stay as they are.
    const first = rows === WIDTH ? Array.from({ length: count }, (_, at) => at * rows) : [];
    for (const row of first) clearRows(matrix, row, row + CHANNEL.free);
    return { ...matrixTensor(name(part), matrix), dims: [columns, rows, count] };
  };
  return [
    vectorTensor(name('attn_norm'), WIDTH, 1),
    ...attentionTensors(index, random),
    vectorTensor(name('ffn_norm'), WIDTH, 1),
    matrixTensor(name('ffn_gate_inp'), router, 'F32'),
    experts('ffn_gate_exps', width, WIDTH),
    experts('ffn_up_exps', width, WIDTH),
    experts('ffn_down_exps', WIDTH, width),
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
