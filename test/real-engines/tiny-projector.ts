/** Eyes for the tiny chat model: a network of one layer in llama.cpp's form for Gemma 3, which has learned nothing. */
import { matrixTensor, randomMatrix, vectorTensor } from '../../tools/gguf/matrix.ts';
import { f32, flag, scalars, text, u32 } from '../../tools/gguf/metadata.ts';
import { quantise } from '../../tools/gguf/quantise.ts';
import { seededRandom } from '../../tools/gguf/random.ts';
import { type TensorSource, writeGguf } from '../../tools/gguf/writer.ts';
import { TINY_SHAPE } from '../../tools/models/tiny-shape.ts';

const [WIDTH, HEADS, FEED_FORWARD] = [32, 2, 64];
const [IMAGE_PIXELS, PATCH_PIXELS] = [64, 8];
/** Patches of one side that become one token. */
const MERGED = 2;

const PATCHES = IMAGE_PIXELS / PATCH_PIXELS;
/** What one image of any size takes of the prompt, beside the marks before and behind it. */
export const IMAGE_TOKENS = (PATCHES / MERGED) ** 2;

export function writeTinyProjector(path: string): Promise<number> {
  const random = seededRandom(3);
  const matrix = (name: string, rows: number, columns: number): TensorSource =>
    matrixTensor(name, randomMatrix(rows, columns, random, 1 / Math.sqrt(columns)), 'F32');
  const norm = (name: string): TensorSource[] => [
    vectorTensor(`${name}.weight`, WIDTH, 1),
    vectorTensor(`${name}.bias`, WIDTH, 0),
  ];
  const pixels = randomMatrix(WIDTH, 3 * PATCH_PIXELS ** 2, random, 0.1);
  return writeGguf(path, {
    metadata: {
      'general.architecture': text('clip'),
      'general.name': text('Tiny Projector'),
      'clip.has_vision_encoder': flag(true),
      'clip.projector_type': text('gemma3'),
      'clip.use_gelu': flag(true),
      'clip.vision.image_size': u32(IMAGE_PIXELS),
      'clip.vision.patch_size': u32(PATCH_PIXELS),
      'clip.vision.projector.scale_factor': u32(MERGED),
      'clip.vision.embedding_length': u32(WIDTH),
      'clip.vision.feed_forward_length': u32(FEED_FORWARD),
      'clip.vision.block_count': u32(1),
      'clip.vision.projection_dim': u32(TINY_SHAPE.width),
      'clip.vision.attention.head_count': u32(HEADS),
      'clip.vision.attention.layer_norm_epsilon': f32(1e-6),
      'clip.vision.image_mean': scalars('f32', [0.5, 0.5, 0.5]),
      'clip.vision.image_std': scalars('f32', [0.5, 0.5, 0.5]),
    },
    tensors: [
      {
        name: 'v.patch_embd.weight',
        type: 'F32',
        dims: [PATCH_PIXELS, PATCH_PIXELS, 3, WIDTH],
        chunks: () => [quantise('F32', pixels.values)],
      },
      matrix('v.position_embd.weight', PATCHES ** 2, WIDTH),
      ...norm('v.blk.0.ln1'),
      ...['attn_q', 'attn_k', 'attn_v', 'attn_out'].map((name) =>
        matrix(`v.blk.0.${name}.weight`, WIDTH, WIDTH),
      ),
      ...norm('v.blk.0.ln2'),
      matrix('v.blk.0.ffn_up.weight', FEED_FORWARD, WIDTH),
      matrix('v.blk.0.ffn_down.weight', WIDTH, FEED_FORWARD),
      ...norm('v.post_ln'),
      vectorTensor('mm.soft_emb_norm.weight', WIDTH, 1),
      matrix('mm.input_projection.weight', WIDTH, TINY_SHAPE.width),
    ],
  });
}
