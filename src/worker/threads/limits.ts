/** The constants of the search for thread counts. All are chosen, and held to their purpose by simulated machines. */

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
  /** Steps' worth of time that may be lost before any was earned. */
  readonly firstCredit: number;
  /** Minimum steps between two grants (EXPLORING.grantMs). */
  readonly grantSteps: number;
  /** Fewer threads are only tried while other programs run. */
  readonly keepsAll: boolean;
}

/** Steps that decode, or that are as short: thousands of them, each of some ten milliseconds. */
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

/** Prefill chunks are few and long, and never alike: depth is only estimated. */
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
  /** The share of the running time that trials may lose. */
  share: 0.01,
  /** The same for trials that other programs disturbed: the next one has to come soon after their end. */
  disturbedShare: 0.05,
  /** A trial is assumed to lose at least this share of a step. */
  leastStake: 0.1,
  /** A first step of a trial that is this much worse ends it. */
  hopeless: 1.25,
  /** Time of steps until a count that lost is tried again: doubled with every loss, four times as long where it was far behind. */
  soonMs: 1_000,
  lateMs: 16_000,
  rareMs: 64_000,
  disturbedMs: 4_000,
  /** Upper bound of saved time: a few trials, because making them all at once is useless. */
  mostSavedSteps: 4,
  /**
   * Upper bound of debt: one step, or this much; of a trial in bad company the part that counts. After a very bad trial
   * the next one must come within seconds.
   */
  mostOwedMs: 100,
  /** A trial that finds no similar steps for this long is dropped. */
  patienceSteps: 16,
  /** Steps this much slower or faster than at the last trial: the machine has changed. */
  changed: 1.3,
  /** Calls are compared with one whose cells differ by less. */
  likeCells: 256,
  /** A count that lost by this factor is left to its turn when steps change their speed: a trial of it is a gap that a reader sees. */
  farBehind: 1.4,
  /** A count that was measured at less than this share of the present cost is tried at once. */
  promising: 0.9,
  /** When other programs end, a step's worth of loss is granted, and not again within this time. */
  grantMs: 10_000,
  /** Validity of such a measurement. */
  knownMs: 120_000,
} as const;

export const MACHINE = {
  /** Prefill calls of fewer rows are bound by reading the weights, like decode steps. */
  prefillRows: 32,
  /** Depth at which a prefill row costs twice what it costs at position 0: measured, "What a chunk costs" in bench/LOG.md. */
  prefillDoublesAt: 900,
  /** Cores that other programs took or released. */
  othersChanged: 0.25,
  /** Other programs use less than this much of a core on a quiet machine ... */
  othersQuiet: 0.3,
  /** ... and threads that wait for each other spin, so an undisturbed step uses nearly all of its threads' time. */
  quietShare: 0.8,
  /** Total length of undisturbed steps before a count is remembered. */
  confirmMs: 3_000,
} as const;
