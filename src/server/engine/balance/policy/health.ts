/**
 * Health of an upstream: `ready`, `busy` (alive, but gets no more) or `down`. The outcome of requests counts first;
 * probes only cover an upstream without requests. A refusal for the request's own fault (4xx) says nothing about
 * health, and a starting upstream has not failed.
 */
import type { FailureKind } from '../../failure-kinds.ts';
import type { BalanceLimits } from '../limits.ts';

type HealthState = 'ready' | 'busy' | 'down';

export interface Health {
  readonly state: HealthState;
  readonly why: 'starting' | 'refused' | 'crowded' | FailureKind | null;
  /** End of `busy`; for `down`, the time of the next try. */
  readonly untilMs: number;
  readonly failures: number;
  readonly falls: number;
  readonly isTrialOut: boolean;
  readonly lastSignalMs: number;
}

export type Signal =
  | { readonly type: 'sent' }
  | { readonly type: 'begun' }
  | { readonly type: 'completed' }
  | {
      readonly type: 'failed';
      readonly kind: FailureKind;
      readonly retryAfterMs?: number | undefined;
      /** Answers that it is streaming meanwhile; each is evidence of health. */
      readonly speaking?: number;
    }
  | { readonly type: 'abandoned' }
  | { readonly type: 'alive' }
  | { readonly type: 'starting' }
  | { readonly type: 'lifeless' }
  | { readonly type: 'load'; readonly isCrowded: boolean };

export function newHealth(nowMs: number): Health {
  return {
    state: 'ready',
    why: null,
    untilMs: nowMs,
    failures: 0,
    falls: 0,
    isTrialOut: false,
    lastSignalMs: Number.NEGATIVE_INFINITY,
  };
}

export function applySignal(health: Health, signal: Signal, nowMs: number, limits: BalanceLimits): Health {
  const now = { ...settled(health, nowMs), lastSignalMs: nowMs };
  switch (signal.type) {
    case 'sent':
      return { ...settled(health, nowMs), isTrialOut: health.isTrialOut || health.state === 'down' };
    case 'abandoned':
      return { ...settled(health, nowMs), isTrialOut: false };
    case 'begun':
      // An upstream that was down is on probation: its next failure brings it down again.
      return now.state === 'down' ? up({ ...now, failures: limits.failuresUntilDown - 1 }) : now;
    case 'completed':
      return { ...(now.why === 'crowded' ? now : up(now)), failures: 0, falls: 0, isTrialOut: false };
    case 'failed':
      return failed(now, signal, nowMs, limits);
    case 'alive':
      // A probe does not prove that requests succeed; it only permits one trial request.
      if (now.state === 'down') return { ...now, untilMs: nowMs };
      return now.why === 'starting' ? up(now) : now;
    case 'starting':
      return busy(now, 'starting', nowMs + 2 * limits.idleProbeMs);
    case 'lifeless':
      return down(now, 'connect', nowMs, limits);
    case 'load':
      if (now.state === 'down' || (now.why !== null && now.why !== 'crowded')) return now;
      return signal.isCrowded ? busy(now, 'crowded', nowMs + 2 * limits.loadProbeMs) : up(now);
  }
}

/** Admission now: `trial` permits one request, `down` none. */
export function standing(health: Health, nowMs: number): HealthState | 'trial' {
  const { state, untilMs, isTrialOut } = settled(health, nowMs);
  return state === 'down' && nowMs >= untilMs && !isTrialOut ? 'trial' : state;
}

export function probeDueMs(
  { state, untilMs, lastSignalMs }: Health,
  inFlight: number,
  limits: BalanceLimits,
): number {
  if (state === 'down') return Math.max(untilMs, lastSignalMs + limits.downMs);
  return inFlight > 0 ? Number.POSITIVE_INFINITY : lastSignalMs + limits.idleProbeMs;
}

function settled(health: Health, nowMs: number): Health {
  return health.state === 'busy' && nowMs >= health.untilMs ? up(health) : health;
}

const up = (health: Health): Health => ({ ...health, state: 'ready', why: null, isTrialOut: false });

const busy = (health: Health, why: 'starting' | 'refused' | 'crowded', untilMs: number): Health => ({
  ...health,
  state: 'busy',
  why,
  untilMs,
  isTrialOut: false,
});

function down(health: Health, why: FailureKind, nowMs: number, { downMs, downMaxMs }: BalanceLimits): Health {
  const wait = Math.min(downMaxMs, downMs * 2 ** Math.min(health.falls, 30));
  return {
    ...health,
    state: 'down',
    why,
    untilMs: nowMs + wait,
    failures: 0,
    falls: health.falls + 1,
    isTrialOut: false,
  };
}

function failed(
  health: Health,
  { kind, retryAfterMs, speaking = 0 }: Extract<Signal, { type: 'failed' }>,
  nowMs: number,
  limits: BalanceLimits,
): Health {
  // Only the trial counts: requests under way when the upstream fell add no evidence.
  if (health.state === 'down' && !health.isTrialOut) return health;
  switch (kind) {
    case 'declined':
    case 'denied':
    case 'model_gone':
      return health.state === 'down' ? up({ ...health, failures: limits.failuresUntilDown - 1 }) : health;
    case 'refused': {
      const wait = Math.min(retryAfterMs ?? limits.busyMs, limits.busyMaxMs);
      return busy(health, 'refused', nowMs + wait);
    }
    case 'connect':
      // A starting upstream may refuse connections; that is not a failure.
      return health.why === 'starting' ? health : down(health, kind, nowMs, limits);
    default: {
      const failures = health.failures + 1;
      const isOut = health.state === 'down' || failures >= limits.failuresUntilDown + speaking;
      return isOut ? down(health, kind, nowMs, limits) : { ...health, failures };
    }
  }
}
