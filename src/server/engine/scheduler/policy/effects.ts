/** The only ways in which a decision can cause anything, and the only outside facts that it reads. */
import type { LoadSize, Memory, ModelTarget } from '../../ports.ts';
import type { SvcError } from '../../../../lib/errors/svc-error.ts';
import type { LoadPlan } from '../memory-plan.ts';

export interface LoadOrder {
  readonly residencyId: number;
  readonly target: ModelTarget;
  readonly plan: LoadPlan;
}

/** None of these may call the policy back before it returns. */
export interface Effects {
  /** Answered by onMeasured. */
  measureModel(target: ModelTarget): void;
  /** Answered by onLoaded or onLoadFailed. */
  loadModel(order: LoadOrder): void;
  /** Ends a worker or aborts its load; answered by onGone or onLoadFailed. */
  unloadModel(residencyId: number): void;
  /** Answered by onJobEnded or onJobCrashed. */
  startJob(seq: number, residencyId: number): void;
  /** Ends a running background job; answered like startJob. */
  preemptJob(seq: number): void;
  rejectJob(seq: number, error: SvcError): void;
  notifyQueued(seq: number, position: number, reason: string): void;
  /** The one timer; each call resets it. It calls onTimer. */
  setTimer(delayMs: number): void;
  cancelTimer(): void;
}

export interface Readings {
  /** Monotonic milliseconds. */
  nowMs(): number;
  freeMemory(): Memory;
  memoryNeed(target: ModelTarget, size: LoadSize): Memory | null;
  isMeasured(target: ModelTarget): boolean;
}
