/** How much memory a load will take, and which window and how many sequences fit. Pure arithmetic. */
import type { ModelTarget } from '../ports.ts';
import type { LoadedFacts } from '../../contract/load.ts';

/** What a load measured; kept by the caller per model, backend and CPU, and used for the next plan. */
export interface Measured {
  /** The count that a calibration chose; null while none has run on a quiet machine. */
  readonly threads: number | null;
  /** Everything but the context. */
  readonly fixedBytes: number;
  readonly contextBytes: number;
  /** Window and sequences that `contextBytes` was measured with. */
  readonly numCtx: number;
  readonly sequences: number;
}

export interface LoadPlan {
  readonly numCtx: number;
  readonly parallel: number;
  readonly plannedBytes: number;
}

const mib = 1024 * 1024;
/** A process with the native library initialised, and the least compute buffer. */
const processBytes = 160 * mib;
/** Compute buffers grow with the width of the model, as do its weights. */
const computeShare = 0.05;
const comfortableParallel = 8;
/** Fewer sequences than this only when memory forces it. */
export const usualParallel = 4;
const leastCtx = 512;

/** `before` keeps its thread count when this load measured none, because it was pinned, recalled, or disturbed. */
export function measuredOf(facts: LoadedFacts, target: ModelTarget, before: Measured | null): Measured {
  const fixed = Math.max(target.weightsBytes, facts.residentBytes - facts.contextBytes);
  return {
    threads: facts.calibration.length > 0 ? facts.threads : (before?.threads ?? null),
    fixedBytes: fixed,
    contextBytes: facts.contextBytes,
    numCtx: facts.numCtx,
    sequences: facts.sequences,
  };
}

export function plannedBytes(
  target: ModelTarget,
  measured: Measured | null,
  numCtx: number,
  parallel: number,
): number {
  if (measured !== null) {
    const cells = (numCtx * parallel) / Math.max(1, measured.numCtx * measured.sequences);
    return Math.ceil(measured.fixedBytes + measured.contextBytes * cells);
  }
  const context = target.kvBytesPerToken * numCtx * parallel;
  return Math.ceil(target.weightsBytes * (1 + computeShare) + context + processBytes);
}

/** The window that a request asks for: never less than the model's own default, never more than it was trained for. */
export function wantedCtx(target: ModelTarget, requested: number | null): number {
  return Math.min(target.trainedCtx, Math.max(target.defaultCtx, requested ?? 0));
}

export interface Wish {
  readonly target: ModelTarget;
  readonly measured: Measured | null;
  readonly wantedCtx: number;
  /** Pinned by the user, or null. */
  readonly parallel: number | null;
}

/**
 * The best plan within `availableBytes`, or null: many sequences when they are cheap, else four, else fewer, and only
 * then a smaller window.
 */
export function bestPlan(wish: Wish, availableBytes: number): LoadPlan | null {
  const at = (numCtx: number, parallel: number): LoadPlan => ({
    numCtx,
    parallel,
    plannedBytes: plannedBytes(wish.target, wish.measured, numCtx, parallel),
  });
  const comfortable = at(wish.wantedCtx, comfortableParallel);
  if (wish.parallel === null && comfortable.plannedBytes <= availableBytes / 2) return comfortable;
  return necessaryPlan(wish, availableBytes);
}

/** The same without comfort: what is worth an eviction. */
export function necessaryPlan(wish: Wish, availableBytes: number): LoadPlan | null {
  for (let parallel = wish.parallel ?? usualParallel; parallel >= 1; parallel -= 1) {
    const plan = planAt(wish, wish.wantedCtx, parallel);
    if (plan.plannedBytes <= availableBytes) return plan;
    if (wish.parallel !== null) break;
  }
  const parallel = wish.parallel ?? 1;
  for (let numCtx = Math.floor(wish.wantedCtx / 2); numCtx >= leastCtx; numCtx = Math.floor(numCtx / 2)) {
    const plan = planAt(wish, numCtx, parallel);
    if (plan.plannedBytes <= availableBytes) return plan;
  }
  return null;
}

/** The smallest need that was considered, for the message of a refusal. */
export function leastBytes(wish: Wish): number {
  return planAt(wish, Math.min(wish.wantedCtx, leastCtx), wish.parallel ?? 1).plannedBytes;
}

function planAt(wish: Wish, numCtx: number, parallel: number): LoadPlan {
  return { numCtx, parallel, plannedBytes: plannedBytes(wish.target, wish.measured, numCtx, parallel) };
}
