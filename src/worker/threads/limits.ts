/** Constants of the search for thread counts. All are chosen; simulated machines test their purpose. */

export interface SearchLimits {
  /** Calls of one size before their mean counts. */
  readonly least: number;
  /** After a pause of this length, earlier calls no longer count. */
  readonly forgetMs: number;
  /** Undisturbed calls after which the current count was measured undisturbed. */
  readonly calmSteps: number;
  /** Steps in which another count has to be better before it is adopted, and by which factor. */
  readonly wins: number;
  readonly better: number;
  /** Steps of a trial without a gain before it ends. */
  readonly losses: number;
  readonly firstCredit: number;
  /** Minimum steps between two grants (EXPLORING.grantMs). */
  readonly grantSteps: number;
  readonly keepsAll: boolean;
}

/** For steps that decode, or that are as short: thousands of them, each of about ten milliseconds. */
export const DECODE_SEARCH: SearchLimits = {
  least: 4,
  calmSteps: 8,
  forgetMs: 30_000,
  wins: 3,
  better: 0.95,
  losses: 2,
  firstCredit: 1,
  grantSteps: 50,
  keepsAll: false,
};

/** Prefill chunks are few, long and never alike: the effect of depth is only estimated. */
export const PREFILL_SEARCH: SearchLimits = {
  least: 2,
  calmSteps: 4,
  forgetMs: 60_000,
  wins: 2,
  better: 0.87,
  losses: 1,
  firstCredit: 0,
  grantSteps: 8,
  keepsAll: true,
};

export const EXPLORING = {
  /** Share of the running time that trials may lose. */
  share: 0.01,
  /** The same for trials that other programs disturbed: the next one has to come soon after their end. */
  disturbedShare: 0.05,
  /** A trial is assumed to lose at least this share of a step. */
  leastStake: 0.1,
  /** A step of a trial that is this much slower ends it. */
  hopeless: 1.25,
  /** Time of steps until a count that lost is tried again: doubled with every loss, times four if it lost by far. */
  soonMs: 1_000,
  lateMs: 16_000,
  rareMs: 64_000,
  disturbedMs: 4_000,
  /** Limit of the saved budget: a few trials, because making them all at once is useless. */
  mostSavedSteps: 4,
  /**
   * Limit of the debt: one step, or this much. Disturbed trials count in part. After a very bad trial the next one
   * must come within seconds.
   */
  mostOwedMs: 100,
  patienceSteps: 16,
  /** A change of speed by this factor since the last trial means that the machine has changed. */
  changed: 1.3,
  /** Calls are compared if their cells differ by less. */
  likeCells: 256,
  /**
   * A count that lost by this factor is not tried early when steps change their speed: a trial of it is a visible
   * gap.
   */
  farBehind: 1.4,
  /** A count that was measured at less than this share of the present cost is tried at once. */
  promising: 0.9,
  /** When other programs end, a step's worth of loss is granted, and not again within this time. */
  grantMs: 10_000,
  knownMs: 120_000,
} as const;

export const MACHINE = {
  /** Prefill calls of fewer rows are bound by reading the weights, like decode steps. */
  prefillRows: 32,
  /**
   * Depth at which a prefill row costs twice as much as at position 0. Measured, "What a chunk costs" in
   * bench/LOG.md.
   */
  prefillDoublesAt: 900,
  /** Change of the cores used by other programs that counts. */
  othersChanged: 0.25,
  /** Other programs use less than this much of a core on a quiet machine ... */
  othersQuiet: 0.3,
  /** ... and threads that wait for each other spin, so an undisturbed step uses nearly all of its threads' time. */
  quietShare: 0.8,
  confirmMs: 3_000,
} as const;
