/** The sizes of the tiny chat model, and the meaning of the channels that its traits reserve. */

export const TINY_SHAPE = {
  width: 64,
  layers: 2,
  heads: 4,
  headsKv: 2,
  headWidth: 16,
  feedForward: 128,
  /** High, so that the slowest rotary pairs hardly turn within the context. */
  ropeBase: 1_000_000,
} as const;

/** Residual channels below `free` carry traits; noise never touches them. */
export const CHANNEL = {
  constant: 0,
  isForever: 1,
  sawForever: 2,
  isFullStop: 3,
  isBrace: 4,
  sawBrace: 5,
  free: 8,
} as const;
