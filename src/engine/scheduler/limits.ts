import { DEFAULT_KEEP_ALIVE_MS, DEFAULT_MAX_QUEUE } from '../../contract/limits.ts';

/** Every limit of the scheduler, by name. Times are milliseconds. */
export interface SchedulerLimits {
  /** Jobs that may wait, over all models. */
  readonly maxQueue: number;
  /** Default keep-alive of an idle model; Infinity: until its memory is needed. */
  readonly keepAliveMs: number;
  /** Models in memory at once; null: as many as the memory plan allows. */
  readonly maxLoadedModels: number | null;
  /** Loads that may run at the same time, memory permitting. */
  readonly maxConcurrentLoads: number;
  /** Slots per model; null: from the memory plan. */
  readonly numParallel: number | null;
  /** Bytes that no plan may touch. */
  readonly reserveBytes: number;
  /**
   * Starvation limit between models: while one waits for memory that a busy one holds, the busy one goes on taking
   * its own queue for at most this long, then it is emptied. It groups alternating bursts, and bounds their wait.
   */
  readonly maxSwitchWaitMs: number;
  /** Starvation limit within a model: a job that was overtaken this often by younger ones is next. */
  readonly maxOvertakes: number;
  /** Failed loads in a row until a model is set aside; pauses between them grow from `loadBackoffMs`. */
  readonly loadTries: number;
  readonly loadBackoffMs: number;
  /** Time that a model is set aside at first; doubles with each further failure up to `quarantineMaxMs`. */
  readonly quarantineMs: number;
  readonly quarantineMaxMs: number;
  /** Crashes of a worker under the same job until the job is refused, for how long, and how many are remembered. */
  readonly poisonCrashes: number;
  readonly poisonMs: number;
  readonly poisonEntries: number;
  /** Times that a job whose worker died before the job began returns to the queue. */
  readonly maxRequeues: number;
  readonly maxHeld: number;
  /** Idle time after which a model may be evicted for a background job. */
  readonly backgroundIdleMs: number;
  /** Between two reports of the queue position. */
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
