import { DEFAULT_KEEP_ALIVE_MS, DEFAULT_MAX_QUEUE } from '../../../contract/limits.ts';

/** Times are milliseconds. */
export interface SchedulerLimits {
  readonly maxQueue: number;
  /** Infinity: until the memory is needed. */
  readonly keepAliveMs: number;
  readonly maxLoadedModels: number | null;
  readonly maxConcurrentLoads: number;
  readonly numParallel: number | null;
  readonly reserveBytes: number;
  /**
   * Starvation limit between models: while one waits for memory that a busy one holds, the busy one serves its own
   * queue for at most this time, then is emptied. This groups alternating bursts and bounds their wait.
   */
  readonly maxSwitchWaitMs: number;
  /** Starvation limit within a model: a job overtaken this often is next. */
  readonly maxOvertakes: number;
  /** Consecutive failed loads until quarantine; pauses between them grow from `loadBackoffMs`. */
  readonly loadTries: number;
  readonly loadBackoffMs: number;
  readonly quarantineMs: number;
  readonly quarantineMaxMs: number;
  /** Crashes under the same job until it is refused; how long and how many are remembered. */
  readonly poisonCrashes: number;
  readonly poisonMs: number;
  readonly poisonEntries: number;
  /** Returns to the queue of a job whose worker died before it began. */
  readonly maxRequeues: number;
  readonly maxHeld: number;
  /** Idle time after which a model may be evicted for a background job. */
  readonly backgroundIdleMs: number;
  readonly notifyMs: number;
}

export const DEFAULT_SCHEDULER_LIMITS: SchedulerLimits = {
  maxQueue: DEFAULT_MAX_QUEUE,
  keepAliveMs: DEFAULT_KEEP_ALIVE_MS,
  maxLoadedModels: null,
  maxConcurrentLoads: 2,
  numParallel: null,
  reserveBytes: 256 * 1024 * 1024,
  maxSwitchWaitMs: 5_000,
  maxOvertakes: 32,
  loadTries: 3,
  loadBackoffMs: 500,
  quarantineMs: 60_000,
  quarantineMaxMs: 600_000,
  poisonCrashes: 2,
  poisonMs: 600_000,
  poisonEntries: 256,
  maxRequeues: 1,
  maxHeld: 64,
  backgroundIdleMs: 60_000,
  notifyMs: 1_000,
};
