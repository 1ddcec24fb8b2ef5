const MIB = 1024 * 1024;

export const BATCH_LIMITS = {
  /** One file that is sent. */
  fileBytes: 200 * MIB,
  /** Per input file. */
  lines: 50_000,
  /** Of one batch's answers; further ones fail their line. */
  outputBytes: 4096 * MIB,
  /** Per owner, of uploaded and produced files. */
  ownerFiles: 500,
  ownerBytes: 8192 * MIB,
  /** Of all owners together. */
  files: 5_000,
  bytes: 32_768 * MIB,
  /** Batches of one owner that are not over; the others are kept as long as their files. */
  ownerOpenBatches: 50,
  batches: 5_000,
  keptS: 30 * 24 * 60 * 60,
} as const;
export type BatchLimits = { readonly [K in keyof typeof BATCH_LIMITS]: number };
