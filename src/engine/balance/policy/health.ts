/**
 * Health of an upstream in three values: `ready`, `busy` (alive, but not to be given more) and `down`. What requests
 * meet counts first; probes only tell of an upstream that nobody uses. The refusal of a request (4xx) says nothing of
 * health, and an upstream that is starting has not failed.
 */
import type { BalanceLimits } from '../limits.ts';

type HealthState = 'ready' | 'busy' | 'down';

export type FailureKind =
  /** No connection. */
  | 'connect'
  /** Nothing came within the time for the first byte, or for the whole. */
  | 'timeout'
  /** It began, then nothing more came. */
  | 'stall'
  /** A status of 5xx other than 503. */
  | 'server_error'
  /** Broken answer: it ended early, is not JSON, or has no end. */
  | 'broken'
  /** 429 or 503. */
  | 'refused'
  /** It does not have the model any more. */
  | 'model_gone'
  /** It does not take Hearth's key, or does not prove who it is. */
  | 'denied'
  /** Any other 4xx: the request is at fault, and would be elsewhere. */
  | 'declined';

export const FAILURE_KINDS: readonly FailureKind[] = [
  'connect',
  'timeout',
  'stall',
  'server_error',
  'broken',
  'refused',
  'model_gone',
  'denied',
  'declined',
];

export interface Health {
  readonly state: HealthState;
  /** Reason why it is not `ready`. */
  readonly why: 'starting' | 'refused' | 'crowded' | FailureKind | null;
  /** When `busy` ends by itself; when one that is `down` may be tried. */
  readonly untilMs: number;
  /** In a row. */
  readonly failures: number;
  /** Times that it went down since it last completed a request. */
  readonly falls: number;
  /** The one request that may try it is running. */
  readonly isTrialOut: boolean;
  /** Time of the last sign of life. */
  readonly lastSignalMs: number;
}

export type Signal =
  /** A request was sent to it. */
  | { readonly type: 'sent' }
  /** A request got its first byte. */
  | { readonly type: 'begun' }
  /** A request got its whole answer. */
  | { readonly type: 'completed' }
  /** A request failed there. */
  | {
      readonly type: 'failed';
      readonly kind: FailureKind;
      readonly retryAfterMs?: number | undefined;
      /** Requests that it is giving answers to meanwhile: each speaks for it. */
      readonly speaking?: number;
    }
  /** A request ended that proves nothing, because its client left. */
  | { readonly type: 'abandoned' }
  /** A probe found it in order. */
  | { readonly type: 'alive' }
  /** A probe found that it is starting or loads its model. */
  | { readonly type: 'starting' }
  /** A probe found nothing there, or an engine that has died. */
  | { readonly type: 'lifeless' }
  /** It reported its load. */
  | { readonly type: 'load'; readonly isCrowded: boolean };

/** Health of an unknown upstream: it gets a request. */
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
      // A probe does not show that requests succeed: it only lets one request find out.
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

/** Requests that it may get now: `trial` is for one request, and `down` none. */
export function standing(health: Health, nowMs: number): HealthState | 'trial' {
  const { state, untilMs, isTrialOut } = settled(health, nowMs);
  return state === 'down' && nowMs >= untilMs && !isTrialOut ? 'trial' : state;
}

/** When it is to be probed; Infinity while requests tell enough. */
export function probeDueMs(
  { state, untilMs, lastSignalMs }: Health,
  inFlight: number,
  limits: BalanceLimits,
): number {
  if (state === 'down') return Math.max(untilMs, lastSignalMs + limits.downMs);
  return inFlight > 0 ? Number.POSITIVE_INFINITY : lastSignalMs + limits.idleProbeMs;
}

/** Being busy is over when its time is. */
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
  // Requests that were under way when it fell tell nothing new; only its trial does.
  if (health.state === 'down' && !health.isTrialOut) return health;
  switch (kind) {
    case 'declined':
    case 'denied':
    case 'model_gone':
      // It answered, which is all that a trial requires.
      return health.state === 'down' ? up({ ...health, failures: limits.failuresUntilDown - 1 }) : health;
    case 'refused': {
      const wait = Math.min(retryAfterMs ?? limits.busyMs, limits.busyMaxMs);
      return busy(health, 'refused', nowMs + wait);
    }
    case 'connect':
      // Nobody is there; while it is starting, that is no failure.
      return health.why === 'starting' ? health : down(health, kind, nowMs, limits);
    default: {
      const failures = health.failures + 1;
      const isOut = health.state === 'down' || failures >= limits.failuresUntilDown + speaking;
      return isOut ? down(health, kind, nowMs, limits) : { ...health, failures };
    }
  }
}
