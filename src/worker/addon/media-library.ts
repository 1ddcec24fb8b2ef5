import koffi from 'koffi';
import type { Bound } from '../../../packages/llama-api/src/declared.ts';
import { MEDIA_STRUCTS, type MediaParams, MTMD } from '../../../packages/llama-api/src/media.ts';
import { difference } from './library/layout-check.ts';
import { bind, load } from './library/open.ts';

export type MediaLibrary = Bound<typeof MTMD>;

type MediaDefaults = Pick<MediaLibrary, 'mtmd_context_params_default' | 'mtmd_helper_init_opt_default'>;

const MEDIA_DEFAULTS: Readonly<Partial<Record<keyof MediaParams, unknown>>> = {
  use_gpu: true,
  device: null,
  print_timings: true,
  n_threads: 4,
  image_marker: null,
  media_marker: '<__media__>',
  flash_attn_type: -1,
  warmup: true,
  image_min_tokens: -1,
  image_max_tokens: -1,
  cb_eval: null,
  cb_eval_user_data: null,
  batch_max_tokens: 1024,
  progress_callback: null,
};
const VIDEO_DEFAULTS = { fps_target: 4, ffmpeg_bin_dir: null, timestamp_interval_ms: 5000 } as const;

let registered = false;

export function openMediaLibrary(file: string): MediaLibrary {
  if (!registered) for (const [name, members] of Object.entries(MEDIA_STRUCTS)) koffi.struct(name, members);
  registered = true;
  const library = bind(load(file), MTMD, file) as unknown as MediaLibrary;
  checkMediaLayouts(library);
  return library;
}

function checkMediaLayouts(library: MediaDefaults): void {
  const { video_params: video } = library.mtmd_helper_init_opt_default();
  const found =
    difference('mtmd_context_params', library.mtmd_context_params_default(), MEDIA_DEFAULTS) ??
    difference('mtmd_helper_video_init_params', video, VIDEO_DEFAULTS);
  if (found !== null)
    throw new Error(`libmtmd has another layout: ${found}; build it again: hearth library build --media`);
}
