/**
 * Part of libmtmd's C API: converts images and audio to rows of the model's width. It is declared experimental, so
 * the probe does not compare it.
 */
import { type Declared, declare } from './declared.ts';
import type { Pointer } from './structs.ts';

type Nullable = Pointer | null;

/** Members in order, with koffi's type names. */
export const MEDIA_STRUCTS = {
  mtmd_context_params: {
    use_gpu: 'bool',
    device: 'void*',
    print_timings: 'bool',
    n_threads: 'int',
    image_marker: 'const char*',
    media_marker: 'const char*',
    flash_attn_type: 'int',
    warmup: 'bool',
    image_min_tokens: 'int',
    image_max_tokens: 'int',
    cb_eval: 'void*',
    cb_eval_user_data: 'void*',
    batch_max_tokens: 'int32',
    progress_callback: 'void*',
    progress_callback_user_data: 'void*',
  },
  mtmd_input_text: { text: 'const char*', text_len: 'size_t', add_special: 'bool', parse_special: 'bool' },
  mtmd_helper_video_init_params: {
    fps_target: 'float',
    ffmpeg_bin_dir: 'const char*',
    timestamp_interval_ms: 'int64',
  },
  mtmd_helper_init_opt: { video_params: 'mtmd_helper_video_init_params' },
  mtmd_helper_bitmap_wrapper: { bitmap: 'void*', video_ctx: 'void*' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface MediaParams {
  use_gpu: boolean;
  device: Nullable;
  print_timings: boolean;
  n_threads: number;
  image_marker: string | null;
  media_marker: string;
  flash_attn_type: number;
  warmup: boolean;
  image_min_tokens: number;
  image_max_tokens: number;
  cb_eval: Nullable;
  cb_eval_user_data: Nullable;
  batch_max_tokens: number;
  progress_callback: Nullable;
  progress_callback_user_data: Nullable;
}

interface MediaText {
  text: string;
  text_len: number;
  add_special: boolean;
  parse_special: boolean;
}

interface BitmapOptions {
  video_params: { fps_target: number; ffmpeg_bin_dir: string | null; timestamp_interval_ms: number };
}

/** mtmd_input_chunk_type. */
export const CHUNK_TYPES = { text: 0, image: 1, audio: 2 } as const;

export const MTMD = {
  mtmd_context_params_default: declare<() => MediaParams>('mtmd_context_params'),
  mtmd_init_from_file: declare<(path: string, model: Pointer, params: MediaParams) => Nullable>(
    'void*',
    'const char*',
    'void*',
    'mtmd_context_params',
  ),
  mtmd_free: declare<(context: Pointer) => void>('void', 'void*'),
  mtmd_helper_log_set: declare<(callback: Nullable, user: null) => void>('void', 'void*', 'void*'),
  mtmd_support_vision: declare<(context: Pointer) => boolean>('bool', 'void*'),
  mtmd_support_audio: declare<(context: Pointer) => boolean>('bool', 'void*'),
  mtmd_decode_use_mrope: declare<(context: Pointer) => boolean>('bool', 'void*'),
  mtmd_decode_use_non_causal: declare<(context: Pointer, chunk: Pointer) => boolean>(
    'bool',
    'void*',
    'void*',
  ),
  mtmd_helper_init_opt_default: declare<() => BitmapOptions>('mtmd_helper_init_opt'),
  mtmd_helper_bitmap_init_from_buf: declare<
    (
      context: Pointer,
      bytes: Uint8Array,
      length: number,
      placeholder: boolean,
      options: BitmapOptions,
    ) => { bitmap: Nullable; video_ctx: Nullable }
  >('mtmd_helper_bitmap_wrapper', 'void*', 'void*', 'size_t', 'bool', 'mtmd_helper_init_opt'),
  mtmd_bitmap_init: declare<(width: number, height: number, rgb: Uint8Array) => Pointer>(
    'void*',
    'uint32',
    'uint32',
    'void*',
  ),
  mtmd_bitmap_get_nx: declare<(bitmap: Pointer) => number>('uint32', 'void*'),
  mtmd_bitmap_get_ny: declare<(bitmap: Pointer) => number>('uint32', 'void*'),
  mtmd_bitmap_get_data: declare<(bitmap: Pointer) => Pointer>('void*', 'void*'),
  mtmd_bitmap_get_n_bytes: declare<(bitmap: Pointer) => number>('size_t', 'void*'),
  mtmd_bitmap_is_audio: declare<(bitmap: Pointer) => boolean>('bool', 'void*'),
  mtmd_bitmap_free: declare<(bitmap: Pointer) => void>('void', 'void*'),
  mtmd_input_chunks_init: declare<() => Pointer>('void*'),
  mtmd_input_chunks_size: declare<(chunks: Pointer) => number>('size_t', 'void*'),
  mtmd_input_chunks_get: declare<(chunks: Pointer, index: number) => Pointer>('void*', 'void*', 'size_t'),
  mtmd_input_chunks_free: declare<(chunks: Pointer) => void>('void', 'void*'),
  mtmd_input_chunk_get_type: declare<(chunk: Pointer) => number>('int', 'void*'),
  mtmd_input_chunk_get_tokens_text: declare<(chunk: Pointer, count: [number]) => Nullable>(
    'void*',
    'void*',
    '_Out_ size_t*',
  ),
  mtmd_input_chunk_get_tokens_image: declare<(chunk: Pointer) => Nullable>('void*', 'void*'),
  mtmd_input_chunk_get_n_tokens: declare<(chunk: Pointer) => number>('size_t', 'void*'),
  mtmd_input_chunk_get_n_pos: declare<(chunk: Pointer) => number>('int32', 'void*'),
  mtmd_tokenize: declare<
    (context: Pointer, chunks: Pointer, text: MediaText, bitmaps: readonly Pointer[], count: number) => number
  >('int32', 'void*', 'void*', 'mtmd_input_text*', 'void**', 'size_t'),
  mtmd_encode_chunk: declare<(context: Pointer, chunk: Pointer) => number>('int32', 'void*', 'void*'),
  mtmd_get_output_embd: declare<(context: Pointer) => Nullable>('void*', 'void*'),
  mtmd_helper_image_get_decoder_pos: declare<(image: Pointer, first: number, positions: Uint32Array) => void>(
    'void',
    'void*',
    'int32',
    'void*',
  ),
} as const satisfies Readonly<Record<string, Declared<unknown>>>;
