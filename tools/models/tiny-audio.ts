/**
 * Ears for the tiny chat models: Whisper's encoder with one layer, which has learned nothing, and the projectors of Ultravox
 * (frames that are stacked) and of Qwen2-Audio (frames that are averaged), in llama.cpp's form.
 */
import { matrixTensor, randomMatrix, vectorTensor } from '../gguf/matrix.ts';
import { f32, flag, type MetadataValue, text, u32 } from '../gguf/metadata.ts';
import { quantise } from '../gguf/quantise.ts';
import { type Random, seededRandom } from '../gguf/random.ts';
import { type GgufContent, type TensorSource, writeGguf } from '../gguf/writer.ts';
import { TINY_SHAPE } from './tiny-shape.ts';

export const AUDIO_FAMILIES = ['ultravox', 'qwen2a'] as const;
export type AudioFamily = (typeof AUDIO_FAMILIES)[number];

/** Positions are those of 30 seconds, which the library asks for; stacks divide them, or it counts one row too few and stops. */
const EARS = { width: 32, heads: 2, feedForward: 64, melBins: 16, positions: 1500, stacked: 4 } as const;

export interface TinyAudioOptions {
  readonly family?: AudioFamily;
  /** Of the rows, as the model has them. */
  readonly width?: number;
  readonly seed?: number;
}

export function writeTinyAudio(path: string, options: TinyAudioOptions = {}): Promise<number> {
  return writeGguf(path, audioContent(options));
}

/** Rows of 30 seconds, or of anything shorter. */
export const AUDIO_ROWS: Readonly<Record<AudioFamily, number>> = { ultravox: 375, qwen2a: 750 };

export function audioContent({
  family = 'ultravox',
  width = TINY_SHAPE.width,
  seed = 5,
}: TinyAudioOptions = {}): GgufContent {
  const random = seededRandom(seed);
  const matrix = (name: string, rows: number, columns: number): TensorSource =>
    matrixTensor(name, randomMatrix(rows, columns, random, 1 / Math.sqrt(columns)), 'F32');
  const settings: Readonly<Record<string, MetadataValue>> =
    family === 'ultravox' ? { 'clip.audio.projector.stack_factor': u32(EARS.stacked) } : {};
  const stacked = EARS.width * EARS.stacked;
  const rest: Readonly<Record<AudioFamily, readonly TensorSource[]>> = {
    ultravox: [
      vectorTensor('mm.a.norm_pre.weight', stacked, 1),
      matrix('mm.a.mlp.1.weight', 2 * EARS.width, stacked),
      vectorTensor('mm.a.norm_mid.weight', EARS.width, 1),
      matrix('mm.a.mlp.2.weight', width, EARS.width),
    ],
    qwen2a: [matrix('mm.a.fc.weight', width, EARS.width), vectorTensor('mm.a.fc.bias', width, 0)],
  };
  return {
    metadata: {
      'general.architecture': text('clip'),
      'general.name': text('Tiny Ears'),
      'clip.has_audio_encoder': flag(true),
      'clip.projector_type': text(family),
      'clip.use_gelu': flag(true),
      'clip.audio.num_mel_bins': u32(EARS.melBins),
      'clip.audio.embedding_length': u32(EARS.width),
      'clip.audio.feed_forward_length': u32(EARS.feedForward),
      'clip.audio.block_count': u32(1),
      'clip.audio.projection_dim': u32(width),
      'clip.audio.attention.head_count': u32(EARS.heads),
      'clip.audio.attention.layer_norm_epsilon': f32(1e-5),
      ...settings,
    },
    tensors: [
      ...convolution('a.conv1d.1', EARS.melBins, random),
      ...convolution('a.conv1d.2', EARS.width, random),
      matrix('a.position_embd.weight', EARS.positions, EARS.width),
      ...norm('a.blk.0.ln1'),
      ...['attn_q', 'attn_v', 'attn_out'].flatMap((name) => [
        matrix(`a.blk.0.${name}.weight`, EARS.width, EARS.width),
        vectorTensor(`a.blk.0.${name}.bias`, EARS.width, 0),
      ]),
      // Whisper has no bias there, and the library stops where there is one.
      matrix('a.blk.0.attn_k.weight', EARS.width, EARS.width),
      ...norm('a.blk.0.ln2'),
      matrix('a.blk.0.ffn_up.weight', EARS.feedForward, EARS.width),
      vectorTensor('a.blk.0.ffn_up.bias', EARS.feedForward, 0),
      matrix('a.blk.0.ffn_down.weight', EARS.width, EARS.feedForward),
      vectorTensor('a.blk.0.ffn_down.bias', EARS.width, 0),
      ...norm('a.post_ln'),
      ...rest[family],
    ],
  };
}

const norm = (name: string): TensorSource[] => [
  vectorTensor(`${name}.weight`, EARS.width, 1),
  vectorTensor(`${name}.bias`, EARS.width, 0),
];

const KERNEL = 3;

/** Over time, from so many channels to the width of the encoder. */
function convolution(name: string, channels: number, random: Random): TensorSource[] {
  const columns = KERNEL * channels;
  const { values } = randomMatrix(EARS.width, columns, random, 1 / Math.sqrt(columns));
  return [
    {
      name: `${name}.weight`,
      type: 'F16',
      dims: [KERNEL, channels, EARS.width],
      chunks: () => [quantise('F16', values)],
    },
    {
      name: `${name}.bias`,
      type: 'F32',
      dims: [1, EARS.width],
      chunks: () => [quantise('F32', new Float32Array(EARS.width))],
    },
  ];
}
