export const EMBEDDING_WIDTH = 768;

export const FEATURE_HASH_MODEL = `feature-hash-${EMBEDDING_WIDTH}`;

export const MOST_EMBEDDING_SEQUENCES = 64;

/** With the sampled token they fill a tile of 16 rows, which matrix units compute at once. */
export const MOST_DRAFT_TOKENS = 15;

export const MOST_SEQUENCES = 256;

export const MOST_THREADS = 1024;

/** Parallel inputs of an embedding model; each takes a thread of libuv's pool. */
export const MOST_EMBEDDINGS_AT_ONCE = 4;

/** Open jobs of an embedding model. Inputs of open jobs alternate, so a long list delays no other. */
export const MOST_EMBEDDING_JOBS = 16;

export const TEXTS_OF_ONE_REQUEST = 2048;

export const MOST_UNHELD = 256;

export const MOST_ALTERNATIVES = 20;

/** Rows whose logits are in memory at once while prompt tokens are reported. */
export const SCORED_ROWS = 64;

export const MOST_CALLS = 64;

/** Answer limit, tokens, for base models and models without an end token if the request sets none. */
export const BASE_MODEL_TOKENS = 1024;

/** The same limit for chat models that may not end: a chosen template, or no end token. */
export const CHOSEN_TEMPLATE_TOKENS = 4096;

export const LEAST_CTX = 8;

export const DEFAULT_MAX_QUEUE = 256;

export const DEFAULT_KEEP_ALIVE_MS = 300_000;
