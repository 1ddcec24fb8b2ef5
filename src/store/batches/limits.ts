const MIB = 1024 * 1024;

/** Of the files and batches of the batch API. */
export const BATCH_LIMITS = {
  /** One file that is sent. */
  fileBytes: 200 * MIB,
  /** Of an input file. */
  lines: 50_000,
  /** Of the answers of one batch; what comes after is a failure of its line. */
  outputBytes: 4096 * MIB,
  /** Of one owner, what was sent and what was made of it. */
  ownerFiles: 500,
  ownerBytes: 8192 * MIB,
  /** Of all owners. */
  files: 5_000,
  bytes: 32_768 * MIB,
  /** Batches of one owner that are not over; the others are kept as long as their files. */
  ownerOpenBatches: 50,
  batches: 5_000,
  keptS: 30 * 24 * 60 * 60,
} as const;
export type BatchLimits = { readonly [K in keyof typeof BATCH_LIMITS]: number };
