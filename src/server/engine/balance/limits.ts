/**
 * server/engine/balance owns the path of a job to one of several upstreams: the choice, the health of each, and the reaction
 * to a failure. It knows no sockets and no dialects. This file holds its limits; times are milliseconds.
 */
export interface BalanceLimits {
  /**
   * Extra load that an upstream may have over the least loaded one because it knows the prompt, as a share of its
   * slots.
   */
  readonly affinitySlack: number;
  readonly leastShare: number;
  readonly prefixes: number;
  readonly sessions: number;
  readonly prefixesPerPrompt: number;
  readonly fullKvUse: number;
  /**
   * Consecutive failures until an upstream is down, plus one for each answer it is streaming meanwhile. An upstream
   * that refuses connections is down at once.
   */
  readonly failuresUntilDown: number;
  /** Time until one request may try an upstream that is down; doubles with each failed try up to `downMaxMs`. */
  readonly downMs: number;
  readonly downMaxMs: number;
  readonly busyMs: number;
  readonly busyMaxMs: number;
  readonly idleProbeMs: number;
  readonly loadProbeMs: number;
  readonly modelsMs: number;
  readonly forgetMs: number;
  /** Time left of the client's deadline below which no other upstream is tried. */
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
