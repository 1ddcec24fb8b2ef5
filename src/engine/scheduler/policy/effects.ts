/** The only ways in which a decision can cause anything, and the only facts of the outside that it reads. */
import type { LoadSize, ModelTarget } from '../../ports.ts';
import type { SvcError } from '../../../lib/errors/svc-error.ts';
import type { LoadPlan } from '../memory-plan.ts';

export interface LoadOrder {
  readonly residencyId: number;
  readonly target: ModelTarget;
  readonly plan: LoadPlan;
}

/** None of these may call the policy back before it returns. */
export interface Effects {
  /** Answered by onLoaded or onLoadFailed. */
  loadModel(order: LoadOrder): void;
  /** Ends a worker or aborts its load; answered by onGone or onLoadFailed. */
  unloadModel(residencyId: number): void;
  /** Answered by onJobEnded or onJobCrashed. */
  startJob(seq: number, residencyId: number): void;
  rejectJob(seq: number, error: SvcError): void;
  notifyQueued(seq: number, position: number, reason: string): void;
  /** The one timer, reset by each call; it calls onTimer. */
  setTimer(delayMs: number): void;
  cancelTimer(): void;
}

export interface Readings {
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** Bytes that the system could give to a model now. */
  freeBytes(): number;
  /** Bytes that a load of this size would take; null: it takes no memory that is planned here. */
  memoryNeed(target: ModelTarget, size: LoadSize): number | null;
}
