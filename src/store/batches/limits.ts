const MIB = 1024 * 1024;

export const BATCH_LIMITS = {
  fileBytes: 200 * MIB,
  lines: 50_000,
  /** Per batch; further answers fail their line. */
  outputBytes: 4096 * MIB,
  /** Per owner, uploads and results. */
  ownerFiles: 500,
  ownerBytes: 8192 * MIB,
  files: 5_000,
  bytes: 32_768 * MIB,
  /** Unfinished batches per owner; finished ones are kept as long as their files. */
  ownerOpenBatches: 50,
  batches: 5_000,
  keptS: 30 * 24 * 60 * 60,
} as const;
export type BatchLimits = { readonly [K in keyof typeof BATCH_LIMITS]: number };
