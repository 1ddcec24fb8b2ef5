import { fail, errorReason, type SvcError } from '../../../../lib/errors/svc-error.ts';
import type { SchedulerLimits } from '../limits.ts';
import type { ModelState, SchedulerState, Ticket } from './state.ts';
import type { Job } from '../../../../contract/job.ts';

/** Failures that say nothing about the model file; the next try may succeed. */
const NOT_THE_MODEL = new Set([
  'native_unavailable',
  'files_changed',
  'model_damaged',
  'cancelled',
  'draining',
]);

export function recordLoadFailure(
  model: ModelState,
  error: SvcError,
  nowMs: number,
  limits: SchedulerLimits,
): void {
  model.memoryRetried = false;
  model.below = null;
  if (NOT_THE_MODEL.has(error.code)) return;
  model.failures += 1;
  model.lastFailure = error;
  const beyond = model.failures - limits.loadTries;
  if (beyond >= 0)
    model.quarantinedUntilMs = nowMs + Math.min(limits.quarantineMaxMs, limits.quarantineMs * 2 ** beyond);
  else model.retryAtMs = nowMs + limits.loadBackoffMs * 2 ** (model.failures - 1);
}

export function forgetLoadFailures(model: ModelState): void {
  model.failures = 0;
  model.lastFailure = null;
  model.memoryRetried = false;
  model.below = null;
  model.retryAtMs = Number.NEGATIVE_INFINITY;
  model.quarantinedUntilMs = Number.NEGATIVE_INFINITY;
}

export function quarantineError(model: ModelState, nowMs: number): SvcError | null {
  if (nowMs >= model.quarantinedUntilMs) return null;
  const retryAfterS = Math.ceil((model.quarantinedUntilMs - nowMs) / 1_000);
  const reason = model.lastFailure === null ? 'unknown' : errorReason(model.lastFailure);
  return fail('model_quarantined', { model: model.modelId, reason, retryAfterS });
}

export function recordCrash(
  state: SchedulerState,
  key: string,
  nowMs: number,
  limits: SchedulerLimits,
): void {
  const known = state.poison.get(key);
  const crashes = (known !== undefined && known.untilMs > nowMs ? known.crashes : 0) + 1;
  state.poison.delete(key);
  state.poison.set(key, { crashes, untilMs: nowMs + limits.poisonMs });
  for (const [oldest] of state.poison) {
    if (state.poison.size <= limits.poisonEntries) break;
    state.poison.delete(oldest);
  }
}

/** A job that completed is not to blame for an earlier crash. */
export function forgetCrash(state: SchedulerState, keys: PoisonKeys): void {
  if (state.poison.size === 0) return;
  for (const key of poisonKeys(keys)) state.poison.delete(key);
}

type PoisonKeys = Pick<Ticket, 'poisonKey' | 'grammarKey'>;

function poisonKeys({ poisonKey, grammarKey }: PoisonKeys): string[] {
  const grammar = grammarKey();
  return grammar === null ? [poisonKey()] : [poisonKey(), grammar];
}

export function poisonError(
  state: SchedulerState,
  keys: PoisonKeys,
  nowMs: number,
  limits: SchedulerLimits,
): SvcError<'poison_request'> | null {
  if (state.poison.size === 0) return null;
  for (const key of poisonKeys(keys)) {
    const known = state.poison.get(key);
    if (known === undefined || known.untilMs <= nowMs || known.crashes < limits.poisonCrashes) continue;
    const refusedS = Math.ceil((known.untilMs - nowMs) / 1_000);
    return fail('poison_request', { crashes: known.crashes, refusedS });
  }
  return null;
}

/**
 * Short hash of a job without its id: two 32-bit multiplicative hashes and the length. It only decides which repeated
 * request is refused after two crashes, so it need not resist forgery; it must be small, because the request may be
 * megabytes.
 */
export function poisonKey(modelId: string, job: Job): string {
  return shortName([modelId, { ...job, jobId: '' }]);
}

/**
 * Hash of the answer's constraint (grammar or tools), because the text around it does not change the danger; null
 * without a client's constraint.
 */
export function grammarKey(modelId: string, job: Job): string | null {
  if (job.kind !== 'generate') return null;
  const { format, tools } = job;
  const isFree = format.kind === 'text' || format.kind === 'json_object';
  return isFree && tools.length === 0 ? null : `grammar ${shortName([modelId, format, tools])}`;
}

/** Collisions are possible and harmless. */
function shortName(value: unknown): string {
  const text = JSON.stringify(value);
  let a = 0x811c9dc5;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x5bd1e995);
    b ^= b >>> 13;
  }
  return `${text.length}-${a >>> 0}-${b >>> 0}`;
}
