/** Bounds of the images in one request, and of the cache of images. */
export const IMAGE_LIMITS = {
  /** Agents send each screenshot again with every turn. */
  images: 100,
  /** Of one file. */
  bytes: 20 * 1024 * 1024,
  /** Of one image, before anything of it is decoded: 40 MP take 120 MB. */
  pixels: 40_000_000,
  /** The longer side by the shorter one: a projector that scales a strip down gets a side without pixels. */
  sides: 200,
  /** Of all images of a request: decoding them takes seconds. */
  pixelsOfAll: 400_000_000,
  /** Chosen: images whose size in rows is cached, so that a resent one is not decoded again. */
  known: 256,
  /** Chosen: images that are preprocessed and wait to be encoded. */
  prepared: 4,
  /** Chosen: of encoded rows. An image of Gemma 3 4B takes 2.6 MB. */
  keptBytes: 96 * 1024 * 1024,
} as const;

/** Bounds of the audio in one request. */
export const AUDIO_LIMITS = {
  /** Chosen: a conversation of speech. */
  files: 32,
  /** Of one file. */
  bytes: 20 * 1024 * 1024,
  /** Of one file: an encoder cuts it into pieces of 30 s, each of several hundred rows. Shorter ones make some encoders abort. */
  seconds: { least: 0.1, most: 600 },
  /** Of all files of a request. */
  secondsOfAll: 1_800,
  /** Samples a second, of one channel. */
  rate: { least: 4_000, most: 192_000 },
  channels: 8,
} as const;
