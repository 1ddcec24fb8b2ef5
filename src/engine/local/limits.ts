/** Every limit of the parent side of a worker, by name. Times are milliseconds. */
export interface WorkerLimits {
  /** From fork to `booted`. */
  readonly bootMs: number;
  /** Between two pings while a worker loads or runs jobs; an idle worker is left in peace. */
  readonly heartbeatMs: number;
  /**
   * Silence of a worker that runs jobs, after which it counts as hung. A native call is one long silence: planned for a
   * second, but beside other programs 16 rows were seen to take eight.
   */
  readonly silenceMs: number;
  /** The same while a model loads, where one native call may block the child for long. */
  readonly loadSilenceMs: number;
  /** Extra silence per character of a prompt that has not begun: to read it is one uninterruptible call. */
  readonly silencePerCharMs: number;
  /** From `load` to `loaded`, however alive the worker is. */
  readonly loadMs: number;
  /** Jobs are open but nothing moves: the least patience; `stallFactor` usual steps if that is more. */
  readonly stallMs: number;
  readonly stallFactor: number;
  /** ... but never more than this: a step that holds every stream of a model may not buy itself time by being slow. */
  readonly stallMostMs: number;
  /** Extra patience per token of an input, and of a prompt while the length of a step is unknown. */
  readonly stallPerPromptTokenMs: number;
  /** A child that counts its steps evaluates at most this number of tokens in its first one. */
  readonly firstChunkTokens: number;
  /** From a question to its answer: a vocabulary is read, from a slow disk maybe, and no weights. */
  readonly questionMs: number;
  /** Time that writing idle state may delay the end of a worker. */
  readonly saveMs: number;
  /** From closing the channel to SIGKILL. */
  readonly graceMs: number;
  /** After a failed boot, how long a load fails at once instead of forking again. */
  readonly bootRetryMs: number;
  /** After a load, how long the next spare waits before it looks whether the machine is free; then again and again. */
  readonly spareLullMs: number;
  /** ... and after which it is started although jobs run. */
  readonly spareLatestMs: number;
  /** Characters of standard error kept for the log of a crash. */
  readonly stderrChars: number;
}

/** Limits of a load with one timeout: a worker that shows life all the time gets three times of it in all. */
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
