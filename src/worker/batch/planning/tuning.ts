/**
 * Every tuned constant of the planners, with its justification. "Measured" means on the Sapphire Rapids VM of
 * bench/LOG.md (2 cores, 24 GiB, llama.cpp v0.5.0, 28 layers, d=1024); the section is named. "Chosen" means that a
 * person's patience or a memory bound decides, not a measurement.
 */

/** Chosen: until the first prefill is measured; 3 to 4 ms in "Prompts beside a stream". */
export const ASSUMED_PREFILL_MS_PER_TOKEN = 5;

/** Chosen: the plain planner's chunk, one tile of rows, so that it opens gaps of the same size as the tuned one. */
export const PLAIN_CHUNK_TOKENS = 64;

/**
 * From this many rows of a sequence on, llama.cpp reads its KV cache once per tile instead of once per row
 * (GGML_FA_TILE_Q in ggml-cpu). Measured, "Prompts beside a stream": 63 rows at depth 1,536 take 2,057 ms, 64 take 460.
 */
export const ROW_TILE = 64;

/**
 * Chosen: the end of a prompt is padded to a tile if that takes at most this share of its time. Padding rows are
 * forgotten at once.
 */
export const WORTH_PADDING = 0.75;

/** Rows are computed in groups of four. Measured, "later: bursts and places": 3 rows take 85 ms, 4 take 78. */
export const ROW_GROUP = 4;

export const CHUNK_LIMITS = {
  /** One group of rows: fewer tokens cost the same. */
  leastTokens: ROW_GROUP,
  /** Chosen: the first call of a model of unknown speed. A core that needs 60 ms per token takes a second for it. */
  firstTokens: 16,
  /** Chosen: the longest gap between two tokens of a stream that prefill may open. */
  gapMs: 250,
  /** Chosen: on a machine with slow steps the gap may be this multiple of a step instead. */
  gapSteps: 2,
  /**
   * Measured, "Prompts beside a stream": less than a tile costs several times as much per token. So a tile may take
   * longer, by this time for each multiple that its rows would cost in smaller calls.
   */
  tileGapMs: 750,
  /**
   * Chosen: longest step while no client receives tokens; it limits the reaction to new requests, cancellation and
   * pings.
   */
  idleMs: 1_000,
  /** Chosen: extra time of such a step for a tile, for each multiple that its rows would cost in smaller calls. */
  dearIdleMs: 2_000,
  /** Chosen: longest time of the first tile, estimated from smaller calls. A slow model does not try it. */
  firstTileMs: 2_000,
} as const;

/** Chosen: depth in tokens of the first tile, where smaller calls take about twice as long as at the beginning. */
export const FIRST_TILE_DEPTH = 230;

/** Chosen: after this many steps of waiting a prompt goes first, so that short prompts starve no long one. */
export const PATIENCE_STEPS = 8;

/** Chosen: if a few tokens cost this many times as much each, they measure the cost of a call, not of a token. */
export const HARDLY_SHORTER = 2;

/** Cost of native calls. Simulated machines check its purpose (promises.test.ts). */
export const COSTS = {
  /** Chosen: the last calls of a size; their mean without the highest predicts the next one. */
  recentCalls: 6,
  /** Width of a bin in cells; a few calls of each bin are kept, to learn the cost of cells. */
  binCells: 256,
  samplesPerBin: 8,
  mostSamples: 64,
  /**
   * Chosen: sum of squared cells (steps times variance) below which the assumption counts more than the samples.
   * Steps of one row are many and noisy, tiles of a prompt few and long.
   */
  slopeTrust: { decode: 720_000, prefill: 80_000 },
  /** Chosen: assumed bytes of state that a decode row reads per millisecond, until measured. */
  assumedBytesPerMs: 15_000_000,
  /**
   * Chosen: a cell costs at least this share of the assumption. Samples are minutes apart, at another speed of the
   * machine.
   */
  leastSlopeShare: 0.25,
  /** Chosen: at least this share of a call is not caused by its cells. */
  leastAtStart: 0.1,
  /** Measured, "What one more row costs": a further row costs 0.1 to 0.3 of the first at depth 256. */
  assumedExtraRow: 0.3,
  /**
   * Measured, "attention by depth": exponent by which the cost of cells grows with the rows, with and without flash
   * attention.
   */
  sharedReads: 0.65,
  /**
   * Cost of a cell for a prompt row in a call below a tile, relative to one in a tile. Measured, "What a chunk costs":
   * rows cost twice as much at depths of 230 and 900.
   */
  sliceSteepness: 900 / 230,
  /**
   * Chosen: after this many calls a number of rows is forgotten unless seen. Drafts that lose eight steps then lose
   * at most 3 % of time.
   */
  choiceForgottenAfter: 300,
  /** Chosen: older calls do not count, as the speed of a machine changes. */
  forgottenAfter: 2_048,
} as const;

/**
 * Plain attention's share of the time with flash attention. Measured on two Intel cores, "attention by depth", and on
 * AMD, "attention on AMD".
 */
export const PLAIN_ATTENTION = {
  /** A call that reads no cells: 1.12 and 1.2. */
  start: 1.15,
  /** Per cell, for a decode row (0.32 and 0.53) and for a prompt row (1.45 and 1.7). */
  cell: { decode: 0.45, prefill: 1.55 },
} as const;

/** Chosen: rows are split only if that is cheaper by this factor, as estimates err. */
export const WORTH_PARTING = 0.85;

/** Prompt-lookup drafts. Measured, "What one more row costs". */
export const DRAFT_LIMITS = {
  /** Above this the logits of a step take tens of megabytes and a pass is no longer bound by reading the weights. */
  mostRows: 32,
  /** A smaller gain is not worth the wait for the sampler. */
  leastGain: 1.05,
  /** Chosen: longest delay of a stream by the drafts of others. */
  mostLoss: 0.15,
  /** Chosen: upper bound of a hit rate, so that sixteen accepted tokens in a row are never assumed. */
  mostHitRate: 0.97,
  /** Refinement rounds for draft length; it converges after two. */
  rounds: 3,
} as const;

export const LOOKUP_LIMITS = {
  /** Chosen: shorter n-grams recur by chance too often, and longer ones are found later. */
  ngramTokens: 3,
  /** Chosen: only the end of a long text is indexed, which bounds time and memory. */
  mostIndexedTokens: 16_384,
  /** Chosen: weight of the last token in the hit rate. */
  hitRateWeight: 0.2,
} as const;

export const COPY_LIMITS = {
  /** Chosen: copying is memory traffic, and even a slow machine moves this many bytes per millisecond. */
  bytesPerMs: 8_000_000,
  /** Chosen: below this a copy is not worth its overhead. */
  leastTokens: 16,
} as const;

export const BURST_LIMITS = {
  /**
   * Chosen: a prompt that arrived this long after the first token of a stream began with it; arrivals are noticed
   * between calls.
   */
  arrivalWindowMs: 150,
  /** Chosen: a longer prompt is not part of a burst. */
  promptMs: 1_500,
  /** Chosen: longest wait of a prompt for others. */
  burstMs: 6_000,
} as const;

export const LINGER_LIMITS = {
  /** Chosen: with less prefill a wait would be noticed. */
  leastPrefillMs: 60,
  mostMs: 25,
  /** Requests that a client sends together arrive one or two milliseconds apart; after a pause there are no more. */
  pauseMs: 5,
  /** Measured, "third run": a client that sends one request after the other paid for each first token. */
  fruitlessWaits: 2,
} as const;

export const CELL_LIMITS = {
  /** KV cells that a new answer must find free beyond its prompt, if sequences share them. */
  answerTokens: 64,
} as const;

export const MODEL_DRAFT_LIMITS = {
  /** Assumed hit rate of a new model. */
  firstHitRate: 0.6,
  /** Weight of the last drafted token. */
  hitRateWeight: 0.1,
  /** Each token without drafts restores this share of the assumed hit rate, so bad drafts are tried again. */
  forgetting: 0.005,
  /** Tokens that the drafting model processes in one step while it catches up. */
  catchUpTokens: 128,
} as const;
