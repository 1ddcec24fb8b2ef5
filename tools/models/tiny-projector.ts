/**
 * Eyes for the tiny chat models: networks of one or two layers in llama.cpp's form for several families, which have learned
 * nothing. They differ in what matters to the caller that evaluates their rows: an image is attended to as a whole (Gemma 3),
 * row by row (LLaVA), has a number of rows that follows from its size (Pixtral), is cut into tiles with tokens between them
 * (Idefics 3), takes fewer positions than rows (Qwen2-VL, Qwen2.5-VL), or has rows wider than the model (Qwen3-VL).
 */
import { matrixTensor, randomMatrix, vectorTensor } from '../gguf/matrix.ts';
import { f32, flag, type MetadataValue, scalars, text, u32 } from '../gguf/metadata.ts';
import { quantise } from '../gguf/quantise.ts';
import { type Random, seededRandom } from '../gguf/random.ts';
import { type GgufContent, type TensorSource, writeGguf } from '../gguf/writer.ts';
import { tinyChatContent, type TinyChatOptions, writeTinyChat } from './tiny-chat.ts';
import { TINY_SHAPE } from './tiny-shape.ts';

export interface ProjectorShape {
  readonly width: number;
  readonly heads: number;
  readonly feedForward: number;
  readonly imagePixels: number;
  readonly patchPixels: number;
  /** Absent: as few as the family needs. */
  readonly layers?: number;
}

const TINY: ProjectorShape = { width: 32, heads: 2, feedForward: 64, imagePixels: 64, patchPixels: 8 };
/** Patches of one side that become one token. */
const MERGED = 2;

const patchesOfSide = ({ imagePixels, patchPixels }: ProjectorShape): number => imagePixels / patchPixels;
/** What one image of any size takes of the prompt of Gemma 3, beside the marks before and behind it. */
export const IMAGE_TOKENS = (patchesOfSide(TINY) / MERGED) ** 2;

export const PROJECTOR_FAMILIES = [
  'gemma3',
  'mlp',
  'pixtral',
  'idefics3',
  'qwen2vl_merger',
  'qwen2.5vl_merger',
  'qwen3vl_merger',
] as const;
export type ProjectorFamily = (typeof PROJECTOR_FAMILIES)[number];

export interface TinyProjectorOptions {
  readonly family?: ProjectorFamily;
  /** Of the rows, as the model has them. */
  readonly width?: number;
  /** For benchmarks. */
  readonly shape?: ProjectorShape;
  readonly seed?: number;
}

export function writeTinyProjector(path: string, options: TinyProjectorOptions = {}): Promise<number> {
  return writeGguf(path, projectorContent(options));
}

/** The tokens that Idefics 3 and SmolVLM have around each tile. */
const TILE_TOKENS = ['\n\n', '<fake_token_around_image>', '<global-img>'] as const;

/** The tiny chat model with the tokens of SmolVLM. */
export function writeTinySmolVlm(path: string, options: TinyChatOptions = {}): Promise<number> {
  return writeTinyChat(path, { ...options, tokens: TILE_TOKENS });
}

/** The tiny chat model as the text half of Qwen2-VL, with separate positions for time, height and width. */
export function writeTinyMrope(path: string, options: TinyChatOptions = {}): Promise<number> {
  return writeGguf(path, mropeContent('qwen2vl', options));
}

/** The text half of Qwen3-VL: its first layers add features of the image, which lie in the row after its embedding. */
export function writeTinyDeepstack(path: string, options: TinyChatOptions = {}): Promise<number> {
  const { metadata, tensors } = mropeContent('qwen3vl', options);
  const { layers, headWidth } = TINY_SHAPE;
  const norms = Array.from({ length: layers }, (_, layer) =>
    ['attn_q_norm', 'attn_k_norm'].map((name) => vectorTensor(`blk.${layer}.${name}.weight`, headWidth, 1)),
  );
  return writeGguf(path, {
    metadata: {
      ...metadata,
      'qwen3vl.attention.key_length': u32(headWidth),
      'qwen3vl.attention.value_length': u32(headWidth),
      'qwen3vl.n_deepstack_layers': u32(DEEPSTACK_LAYERS),
    },
    tensors: [...tensors, ...norms.flat()],
  });
}

const DEEPSTACK_LAYERS = 1;

function mropeContent(architecture: 'qwen2vl' | 'qwen3vl', options: TinyChatOptions): GgufContent {
  const { metadata, tensors } = tinyChatContent(options);
  const renamed = Object.entries(metadata).map(([key, value]) => [
    key.replace(/^llama\./, `${architecture}.`),
    value,
  ]);
  return {
    metadata: {
      ...(Object.fromEntries(renamed) as Record<string, MetadataValue>),
      'general.architecture': text(architecture),
      [`${architecture}.rope.dimension_sections`]: scalars('i32', [2, 3, 3, 0]),
    },
    tensors,
  };
}

type TextModelWriter = (path: string, options?: TinyChatOptions) => Promise<number>;

/** Writes a text model that takes the rows of a family. */
export const TEXT_MODELS: Readonly<Record<ProjectorFamily, TextModelWriter>> = {
  gemma3: writeTinyChat,
  mlp: writeTinyChat,
  pixtral: writeTinyChat,
  idefics3: writeTinySmolVlm,
  qwen2vl_merger: writeTinyMrope,
  'qwen2.5vl_merger': writeTinyMrope,
  qwen3vl_merger: writeTinyDeepstack,
};

interface Family {
  readonly settings: Readonly<Record<string, MetadataValue>>;
  readonly layers: number;
  /** Whether patches have learned positions. */
  readonly places: boolean;
  /** True: queries, keys and values in one matrix. */
  readonly isFused?: boolean;
  readonly rest: (make: Maker, width: number) => TensorSource[];
}

/** Makes tensors of one file from one stream of random numbers. */
class Maker {
  readonly shape: ProjectorShape;
  readonly #random: Random;

  constructor(shape: ProjectorShape, seed: number) {
    this.shape = shape;
    this.#random = seededRandom(seed);
  }

  matrix(name: string, rows: number, columns: number): TensorSource {
    return matrixTensor(name, randomMatrix(rows, columns, this.#random, 1 / Math.sqrt(columns)), 'F32');
  }

  norm(name: string, width = this.shape.width): TensorSource[] {
    return [vectorTensor(`${name}.weight`, width, 1), vectorTensor(`${name}.bias`, width, 0)];
  }

  patches(name: string): TensorSource {
    const { width, patchPixels } = this.shape;
    const pixels = randomMatrix(width, 3 * patchPixels ** 2, this.#random, 0.1);
    return {
      name,
      type: 'F32',
      dims: [patchPixels, patchPixels, 3, width],
      chunks: () => [quantise('F32', pixels.values)],
    };
  }
}

const linear = (make: Maker, name: string, rows: number, columns: number): TensorSource[] => [
  make.matrix(`${name}.weight`, rows, columns),
  vectorTensor(`${name}.bias`, rows, 0),
];

const FAMILIES: Readonly<Record<ProjectorFamily, Family>> = {
  gemma3: {
    settings: { 'clip.vision.projector.scale_factor': u32(MERGED) },
    layers: 1,
    places: true,
    rest: (make, width) => [
      ...make.norm('v.post_ln'),
      vectorTensor('mm.soft_emb_norm.weight', make.shape.width, 1),
      make.matrix('mm.input_projection.weight', make.shape.width, width),
    ],
  },
  mlp: {
    settings: {},
    // The last one is left out by this family.
    layers: 2,
    places: true,
    rest: (make, width) => [
      ...make.norm('v.pre_ln'),
      ...linear(make, 'mm.0', width, make.shape.width),
      ...linear(make, 'mm.2', width, width),
    ],
  },
  pixtral: {
    settings: { 'clip.use_silu': flag(true) },
    layers: 1,
    places: false,
    rest: (make, width) => [
      vectorTensor('v.pre_ln.weight', make.shape.width, 1),
      ...linear(make, 'mm.1', width, make.shape.width),
      ...linear(make, 'mm.2', width, width),
      vectorTensor('v.token_embd.img_break', width, 0.5),
    ],
  },
  idefics3: {
    settings: {
      'clip.vision.projector.scale_factor': u32(MERGED),
      'clip.vision.preproc_image_size': u32(2 * TINY.imagePixels),
    },
    layers: 1,
    places: true,
    rest: (make, width) => [
      ...make.norm('v.post_ln'),
      make.matrix('mm.model.fc.weight', width, MERGED ** 2 * make.shape.width),
    ],
  },
  qwen2vl_merger: { settings: {}, layers: 1, places: false, rest: mergerTensors },
  'qwen2.5vl_merger': {
    // One layer sees windows of the image, the next all of it.
    settings: { 'clip.vision.n_wa_pattern': u32(2) },
    layers: 2,
    places: false,
    rest: mergerTensors,
  },
  qwen3vl_merger: {
    settings: {},
    layers: 2,
    places: true,
    isFused: true,
    rest: (make, width) => [
      vectorTensor('v.patch_embd.bias', make.shape.width, 0.1),
      ...mergerTensors(make, width),
      ...make.norm('v.deepstack.0.norm', MERGED ** 2 * make.shape.width),
      ...linear(make, 'v.deepstack.0.fc1', MERGED ** 2 * make.shape.width, MERGED ** 2 * make.shape.width),
      ...linear(make, 'v.deepstack.0.fc2', width, MERGED ** 2 * make.shape.width),
    ],
  },
};

function mergerTensors(make: Maker, width: number): TensorSource[] {
  return [
    make.patches('v.patch_embd.weight.1'),
    ...make.norm('v.post_ln'),
    ...linear(make, 'mm.0', MERGED ** 2 * make.shape.width, MERGED ** 2 * make.shape.width),
    ...linear(make, 'mm.2', width, MERGED ** 2 * make.shape.width),
  ];
}

export function projectorContent({
  family = 'gemma3',
  width = TINY_SHAPE.width,
  shape = TINY,
  seed = 3,
}: TinyProjectorOptions = {}): GgufContent {
  const make = new Maker(shape, seed);
  const { settings, layers: fewest, places, isFused = false, rest } = FAMILIES[family];
  const { layers = fewest } = shape;
  return {
    metadata: {
      'general.architecture': text('clip'),
      'general.name': text('Tiny Projector'),
      'clip.has_vision_encoder': flag(true),
      'clip.projector_type': text(family),
      ...('clip.use_silu' in settings ? {} : { 'clip.use_gelu': flag(true) }),
      'clip.vision.image_size': u32(shape.imagePixels),
      'clip.vision.patch_size': u32(shape.patchPixels),
      'clip.vision.embedding_length': u32(shape.width),
      'clip.vision.feed_forward_length': u32(shape.feedForward),
      'clip.vision.block_count': u32(layers),
      'clip.vision.projection_dim': u32(width),
      'clip.vision.attention.head_count': u32(shape.heads),
      'clip.vision.attention.layer_norm_epsilon': f32(1e-6),
      'clip.vision.image_mean': scalars('f32', [0.5, 0.5, 0.5]),
      'clip.vision.image_std': scalars('f32', [0.5, 0.5, 0.5]),
      ...settings,
    },
    tensors: [
      make.patches('v.patch_embd.weight'),
      ...(places ? [make.matrix('v.position_embd.weight', patchesOfSide(shape) ** 2, shape.width)] : []),
      ...Array.from({ length: layers }, (_, layer) => layerTensors(make, layer, isFused)).flat(),
      ...rest(make, width),
    ],
  };
}

function layerTensors(make: Maker, layer: number, isFused: boolean): TensorSource[] {
  const { width, feedForward } = make.shape;
  const block = `v.blk.${layer}`;
  const inputs = isFused
    ? linear(make, `${block}.attn_qkv`, 3 * width, width)
    : ['attn_q', 'attn_k', 'attn_v'].flatMap((name) => linear(make, `${block}.${name}`, width, width));
  return [
    ...make.norm(`${block}.ln1`),
    ...inputs,
    ...linear(make, `${block}.attn_out`, width, width),
    ...make.norm(`${block}.ln2`),
    ...linear(make, `${block}.ffn_up`, feedForward, width),
    ...linear(make, `${block}.ffn_down`, width, feedForward),
  ];
}
