/** Width of every vector (interface, Limits). */
export const EMBEDDING_WIDTH = 768;

export const FEATURE_HASH_MODEL = `feature-hash-${EMBEDDING_WIDTH}`;

/** Inputs that an embedding model computes in one step. */
export const MOST_EMBEDDING_SEQUENCES = 64;

/** With the sampled one they fill a tile of sixteen rows, which is what matrix units compute at once. */
export const MOST_DRAFT_TOKENS = 15;

/** Sequences that one model decodes together. */
export const MOST_SEQUENCES = 256;

export const MOST_THREADS = 1024;

/** Inputs that an embedding model computes in parallel, each on a thread of libuv's pool. */
export const MOST_EMBEDDINGS_AT_ONCE = 4;

/** Jobs that an embedding model has open at a time: it takes their inputs in turn, so that a long list holds up no other. */
export const MOST_EMBEDDING_JOBS = 16;

/** Texts of one request for vectors or scores. */
export const TEXTS_OF_ONE_REQUEST = 2048;

/** Keywords that a worker names as left to the check of a call. */
export const MOST_UNHELD = 256;

/** Alternatives that are reported beside a token. */
export const MOST_ALTERNATIVES = 20;

/** Rows of a prompt whose logits are in memory at a time, where its tokens are reported. */
export const SCORED_ROWS = 64;

/** Tool calls of one answer. */
export const MOST_CALLS = 64;

/** Tokens of an answer without a limit, of base models and of models without an end token. */
export const BASE_MODEL_TOKENS = 1024;

/** The same for models that may chat and may still not end: a chosen template, or one without an end token. */
export const CHOSEN_TEMPLATE_TOKENS = 4096;

/** Tokens of the smallest window. */
export const LEAST_CTX = 8;

/** Requests that may wait, over all models. */
export const DEFAULT_MAX_QUEUE = 256;

export const DEFAULT_KEEP_ALIVE_MS = 300_000;
