/**
 * Decides the step after an upstream failed a request. Before its first byte the next one is asked, once; after it, the
 * answer goes on elsewhere only where the client asked for that and the weights are the same. Else the failure is told.
 */
import type { BalanceLimits } from '../limits.ts';
import type { FailureKind } from './health.ts';

export interface Progress {
  /** The client has received a part of the answer. */
  readonly hasBegun: boolean;
  /** Another upstream was already asked before the first byte. */
  readonly wasRetried: boolean;
  /** Another upstream already continues the answer. */
  readonly wasResumed: boolean;
  /** The client allows another upstream to continue (`svc_resume`). */
  readonly mayResume: boolean;
  /** Reason why no other upstream can continue this answer; null: one can. */
  readonly obstacle: string | null;
  /** When the client stops waiting; Infinity: it does not say. */
  readonly deadlineMs: number;
}

type NextStep =
  /** Ask another upstream from the beginning. */
  | { readonly step: 'retry' }
  /** Ask another one with the same weights for the rest. */
  | { readonly step: 'resume' }
  /** `why` another was not asked; null: there is no more to say than the failure itself. */
  | { readonly step: 'fail'; readonly why: string | null };

/** Whether the same request could succeed at another upstream. */
function isUpstreamsFault(kind: FailureKind): boolean {
  return kind !== 'declined';
}

export function nextStep(
  kind: FailureKind,
  progress: Progress,
  { nowMs, limits }: { readonly nowMs: number; readonly limits: Pick<BalanceLimits, 'leastRetryMs'> },
): NextStep {
  const { hasBegun, wasRetried, wasResumed, mayResume, obstacle, deadlineMs } = progress;
  if (!isUpstreamsFault(kind)) return fail(null);
  if (deadlineMs - nowMs < limits.leastRetryMs) return fail('the time that the client gave is over');
  if (!hasBegun && wasRetried) return fail('another upstream had failed before');
  if (!hasBegun) return { step: 'retry' };
  if (!mayResume) return fail(null);
  if (wasResumed) return fail('the answer had been resumed before');
  return obstacle === null ? { step: 'resume' } : fail(obstacle);
}

const fail = (why: string | null): NextStep => ({ step: 'fail', why });
