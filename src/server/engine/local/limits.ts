/** Limits of the parent side of a worker. Times are milliseconds. */
export interface WorkerLimits {
  readonly bootMs: number;
  /** Ping interval while a worker loads or runs jobs; an idle worker is not pinged. */
  readonly heartbeatMs: number;
  /**
   * Silence after which a worker with jobs counts as hung. A native call is one long silence: planned for a second,
   * but under load from other programs 16 rows took eight.
   */
  readonly silenceMs: number;
  readonly loadSilenceMs: number;
  /** Extra silence per character of a prompt that has not begun: tokenising it is one uninterruptible call. */
  readonly silencePerCharMs: number;
  /** From `load` to `loaded`, even if the worker shows life. */
  readonly loadMs: number;
  /** Minimum patience while jobs are open without progress; `stallFactor` usual steps if that is more. */
  readonly stallMs: number;
  readonly stallFactor: number;
  /** Maximum patience, so that slow steps that block all streams cannot extend it. */
  readonly stallMostMs: number;
  /** Extra patience per token of an input, and per prompt token while the step time is unknown. */
  readonly stallPerPromptTokenMs: number;
  /** Most tokens that a child evaluates in its first counted step. */
  readonly firstChunkTokens: number;
  /** From a question to its answer: reads a vocabulary, possibly from a slow disk, but no weights. */
  readonly questionMs: number;
  readonly saveMs: number;
  /** From closing the channel to SIGKILL. */
  readonly graceMs: number;
  /** After a failed boot, loads fail at once for this time instead of forking again. */
  readonly bootRetryMs: number;
  /** Interval after a load at which the next spare checks whether the machine is free. */
  readonly spareLullMs: number;
  /** After this wait the spare starts even if jobs run. */
  readonly spareLatestMs: number;
  readonly stderrChars: number;
}

/** Limits of a load with one timeout; a worker that shows life gets three times as long in all. */
export function loadLimits(timeoutMs: number): Pick<WorkerLimits, 'loadSilenceMs' | 'loadMs'> {
  return { loadSilenceMs: timeoutMs, loadMs: 3 * timeoutMs };
}

export const DEFAULT_WORKER_LIMITS: WorkerLimits = {
  bootMs: 30_000,
  heartbeatMs: 500,
  silenceMs: 30_000,
  silencePerCharMs: 0.005,
  ...loadLimits(300_000),
  stallMs: 30_000,
  stallFactor: 20,
  stallMostMs: 60_000,
  stallPerPromptTokenMs: 1_000,
  firstChunkTokens: 128,
  questionMs: 20_000,
  saveMs: 3_000,
  graceMs: 1_000,
  bootRetryMs: 10_000,
  spareLullMs: 500,
  spareLatestMs: 60_000,
  stderrChars: 8_192,
};
