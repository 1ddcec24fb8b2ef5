import type { ErrorCode } from '../../../lib/errors/catalogue.ts';
import { isFailure, type SvcError } from '../../../lib/errors/svc-error.ts';
import type { FailureKind } from '../failure-kinds.ts';

/** Absent codes are the request's own fault. */
const KINDS: Readonly<Partial<Record<ErrorCode, FailureKind>>> = {
  upstream_unreachable: 'connect',
  upstream_busy: 'refused',
  upstream_failed: 'server_error',
  upstream_broken: 'broken',
  upstream_model_gone: 'model_gone',
  upstream_denied: 'denied',
  upstream_key_missing: 'denied',
  upstream_unproved: 'denied',
  queue_full: 'refused',
  model_quarantined: 'refused',
  worker_crashed: 'broken',
  worker_hung: 'stall',
  native_unavailable: 'server_error',
  files_changed: 'server_error',
  out_of_memory: 'server_error',
  load_failed: 'server_error',
  load_setting_unusable: 'server_error',
  model_damaged: 'server_error',
};

const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

export function classifyFailure(error: SvcError): FailureKind {
  if (isFailure(error, 'upstream_unreachable') && CLOSED.has(causeCode(error.cause))) return 'broken';
  if (isFailure(error, 'upstream_timeout')) return error.detail.phase === 'stall' ? 'stall' : 'timeout';
  return KINDS[error.code] ?? 'declined';
}

export function readRetryAfterMs(error: SvcError): number | undefined {
  if (!isFailure(error, 'upstream_busy', 'queue_full', 'model_quarantined')) return undefined;
  return error.detail.retryAfterS * 1_000;
}

function causeCode(cause: unknown): unknown {
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
}
