export const IMAGE_LIMITS = {
  /** Per request. Agents send each screenshot again with every turn. */
  images: 100,
  /** Per file. */
  bytes: 20 * 1024 * 1024,
  /** Per image, checked before decoding: 40 MP take 120 MB. */
  pixels: 40_000_000,
  /** Longest ratio of the sides: a projector that scales a strip down gets a side without pixels. */
  sides: 200,
  /** Per request: decoding takes seconds. */
  pixelsOfAll: 400_000_000,
  /** Chosen: images whose size in rows is cached, so that a resent one is not decoded again. */
  known: 256,
  /** Chosen: images that are preprocessed and wait to be encoded. */
  prepared: 4,
  /** Chosen: cache of encoded rows. An image of Gemma 3 4B takes 2.6 MB. */
  keptBytes: 96 * 1024 * 1024,
} as const;

export const AUDIO_LIMITS = {
  /** Chosen: a conversation of speech. */
  files: 32,
  /** Per file. */
  bytes: 20 * 1024 * 1024,
  /**
   * Per file: an encoder cuts it into pieces of 30 s, each of several hundred rows. Shorter ones make some encoders
   * abort.
   */
  seconds: { least: 0.1, most: 600 },
  /** Per request. */
  secondsOfAll: 1_800,
  /** Samples per second of one channel. */
  rate: { least: 4_000, most: 192_000 },
  channels: 8,
} as const;
