/**
 * engine/balance owns the way of a job to one of several upstreams: whom it is sent to, what is thought of each, and
 * what follows when one fails. It knows no sockets and no dialects. This file: every limit of it, by name; times are
 * milliseconds.
 */
export interface BalanceLimits {
  /** The part of its slots by which a known prompt may load an upstream more than the least loaded one. */
  readonly affinitySlack: number;
  /** The least share of a prompt that must be known somewhere for that to count. */
  readonly leastShare: number;
  /** Prefixes remembered per model, each with the upstreams that know it. */
  readonly prefixes: number;
  /** Sessions remembered per model. */
  readonly sessions: number;
  /** Prefixes that one prompt is known by. */
  readonly prefixesPerPrompt: number;
  /** The use of its KV cache from which an upstream counts as full. */
  readonly fullKvUse: number;
  /**
   * Failures in a row that make an upstream down, beside one for each answer that it is giving meanwhile; one that
   * accepts no connection is down at once.
   */
  readonly failuresUntilDown: number;
  /** Time until one request may try an upstream that is down; doubles with each failed try up to `downMaxMs`. */
  readonly downMs: number;
  readonly downMaxMs: number;
  /** Time that a refusal without Retry-After keeps an upstream busy. */
  readonly busyMs: number;
  readonly busyMaxMs: number;
  /** Interval of probes of an unused upstream. */
  readonly idleProbeMs: number;
  /** Interval of load reports while the upstream has work. */
  readonly loadProbeMs: number;
  /** Interval of its list of models. */
  readonly modelsMs: number;
  /** Time that the record of an unused upstream is kept. */
  readonly forgetMs: number;
  /** The least time that must be left of the client's deadline for another upstream to be asked. */
  readonly leastRetryMs: number;
}

export const DEFAULT_BALANCE_LIMITS: BalanceLimits = {
  affinitySlack: 0.25,
  leastShare: 0.1,
  prefixes: 65_536,
  sessions: 16_384,
  prefixesPerPrompt: 64,
  fullKvUse: 0.95,
  failuresUntilDown: 3,
  downMs: 1_000,
  downMaxMs: 30_000,
  busyMs: 1_000,
  busyMaxMs: 60_000,
  idleProbeMs: 5_000,
  loadProbeMs: 1_000,
  modelsMs: 30_000,
  forgetMs: 600_000,
  leastRetryMs: 100,
};
