/**
 * Decides the step after an upstream failed a request. Before the first byte, one other upstream is tried. After it,
 * another continues the answer only if the client requested that and the weights are equal. Otherwise the failure is
 * reported.
 */
import type { BalanceLimits } from '../limits.ts';
import type { FailureKind } from '../../failure-kinds.ts';

export interface Progress {
  readonly hasBegun: boolean;
  readonly wasRetried: boolean;
  readonly wasResumed: boolean;
  readonly mayResume: boolean;
  readonly obstacle: string | null;
  readonly deadlineMs: number;
}

type NextStep =
  | { readonly step: 'retry' }
  | { readonly step: 'resume' }
  /** `why` no other upstream was tried; null: the failure itself says enough. */
  | { readonly step: 'fail'; readonly why: string | null };

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
