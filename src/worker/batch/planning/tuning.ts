/**
 * Every tuned constant of the planners, with what justifies it. "Measured" means on the Sapphire Rapids VM of
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

/** Rows are computed in groups of four. Measured, "later: bursts and places": 3 rows take 85 ms, 4 take 78. */
export const ROW_GROUP = 4;

/** Chunked prefill: how many prompt tokens one step evaluates. */
export const CHUNK_LIMITS = {
  /** Chosen: fewer tokens cost mostly the fixed part of a call and say nothing about the rate. */
  leastTokens: 16,
  /** Chosen: the longest gap between two tokens of a stream that prefill may open. */
  gapMs: 250,
  /** Chosen: on a machine with slow steps the gap may be this multiple of a step instead. */
  gapSteps: 2,
  /** Measured, "Prompts beside a stream": less than a tile costs several times as much per token, so a tile may take longer. */
  tileGapMs: 750,
  /** Chosen: the longest step while nothing decodes, which bounds the reaction to new requests and to cancellation. */
  idleMs: 1_000,
  /** Chosen: the longest first step, reckoned as if each row cost a step by itself; the watchdog must not see a standstill. */
  firstMs: 10_000,
} as const;

/** Chosen: after this many steps of waiting a prompt goes first, so that short prompts starve no long one. */
export const PATIENCE_STEPS = 8;

/** How quickly measured rates follow. The first prefill touches fresh memory and is slow; no accident makes one fast. */
export const CHUNK_WEIGHTS = { usual: 0.3, faster: 0.7 } as const;

/** Padding: what a pass costs. Measured, "What a chunk costs": fitted to the table of one chunk by depth and rows. */
export const PADDING_COSTS = {
  /** Rows are computed in blocks; half of the last block is wasted on average. */
  wastedRows: 8,
  /** Depth at which a row of a full tile costs twice what it costs at position 0 ... */
  tiledRowDoublesAt: 900,
  /** ... and a row outside of a tile. */
  singleRowDoublesAt: 230,
} as const;

/** What a decode step costs by its number of rows, before and while it is measured. */
export const STEP_COSTS = {
  /** Chosen: the machine's speed changes by half within seconds (third run), what rows cost against one row does not. */
  speedWeight: 0.2,
  ratioWeight: 0.05,
  /** Measured, "later: bursts and places" (43, 73, 85, 78 ms for 1 to 4 rows): in units of one row. */
  groupRatio: 2.1,
  singleRatio: 0.9,
  /** Just below a group, so that three rows are measured before a fourth is put with them. */
  mostForRest: 2,
  /** Measured, third run: without this bound two rows that were seen in a slow moment were kept apart for good. */
  joinedRatio: 0.95,
  /** Measured, "What one more row costs": a further row of a sequence costs 0.1 to 0.3 of the first at depth 256. */
  assumedExtraRow: 0.3,
  leastExtraRow: 0.03,
  extraRowWeight: 0.3,
  /** Chosen: an extra row that was seen in a slow moment is slowly forgotten, or none would be tried again. */
  forgetWeight: 0.01,
} as const;

/** Prompt-lookup drafts. Measured, "What one more row costs". */
export const DRAFT_LIMITS = {
  /** Above this the logits of a step take tens of megabytes and a pass is no longer bound by reading the weights. */
  mostRows: 32,
  /** A gain below this is not worth the wait for the sampler. */
  leastGain: 1.05,
  /** Chosen: no stream is slowed by more than this for the drafts of others. */
  mostLoss: 0.15,
  /** Chosen: no hit rate is trusted so far that sixteen tokens in a row could be relied on. */
  mostHitRate: 0.97,
} as const;

/** Where drafts come from. */
export const LOOKUP_LIMITS = {
  /** Chosen: shorter n-grams recur by chance too often, and longer ones are found later. */
  ngramTokens: 3,
  /** Chosen: only the end of a long text is indexed, which bounds time and memory. */
  mostIndexedTokens: 16_384,
  /** Chosen: how quickly the hit rate follows. */
  hitRateWeight: 0.2,
} as const;

/** Copying the KV state of another sequence instead of prefilling a shared prefix. */
export const COPY_LIMITS = {
  /** Chosen: copying is memory traffic, and even a slow machine moves this many bytes per millisecond. */
  bytesPerMs: 8_000_000,
  /** Chosen: below this a copy is not worth its overhead. */
  leastTokens: 16,
} as const;

/** Coalescing of requests that arrive together. Measured, "later: bursts and places". */
export const COALESCING_LIMITS = {
  /** Eight requests of one client reach the worker some ten milliseconds apart, up to a second once it is busy. */
  arrivalWindowMs: 150,
  /** Chosen: no young stream waits longer than this for prompts that arrived with it. */
  prefillMs: 3_000,
  /** The share of the prefill time that an idle loop lingers for more requests. */
  lingerShare: 0.03,
  lingerLeastMs: 3,
  lingerMostMs: 25,
  /** Measured, third run: a client that sends one request after the other paid up to 25 ms for each first token. */
  fruitlessLingers: 2,
  /** How often the waiting loop looks who has come. */
  lingerPollMs: 5,
} as const;

/** Chosen: steps that an answer usually takes, over which scattered sequence ids cost more per step. */
export const EXPECTED_DECODE_STEPS = 64;

export const CELL_LIMITS = {
  /** KV cells that a new answer must find free beyond its prompt, where sequences share them. */
  answerTokens: 64,
} as const;

/** Drafts of a smaller model. */
export const MODEL_DRAFT_LIMITS = {
  /** The hit rate that a model is tried with. */
  firstHitRate: 0.6,
  /** The weight of the last drafted token. */
  hitRateWeight: 0.1,
  /** How much of a bad hit rate each token without drafts forgets. */
  forgetting: 0.005,
  /** Tokens that it reads in one step while it is behind. */
  catchUpTokens: 128,
} as const;
