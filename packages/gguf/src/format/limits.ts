/**
 * Chosen: each limit is far above any real model, and low enough that a small file cannot make this code or llama.cpp
 * work or allocate endlessly.
 */
export const LIMITS = {
  /** llama.cpp finds duplicate keys in quadratic time. */
  metadataEntries: 65_536,
  tensors: 65_536,
  headerBytes: 256 * 1024 * 1024,
  keyBytes: 65_535,
  /** Longer strings are measured but not kept. */
  keptTextBytes: 1024 * 1024,
  keptBytes: 32 * 1024 * 1024,
  /** Longer numeric arrays are measured but not kept; per-layer settings are shorter. */
  keptNumbers: 4096,
  vocabulary: 4_194_304,
  tokenBytes: 65_535,
  alignment: 1_048_576,
  blockCount: 512,
  expertCount: 1024,
  contextLength: 2 ** 28,
  embeddingLength: 2 ** 20,
  headCount: 2 ** 14,
  architectureBytes: 64,
  splitParts: 1024,
  plamoRows: 16_000_000,
} as const;
