/** Which window and how many slots a load gets for the memory there is. Pure arithmetic over what its backend needs. */
import type { LoadSize, ModelTarget } from '../ports.ts';

export interface LoadPlan extends LoadSize {
  readonly plannedBytes: number;
}

/** Bytes for a load of this size; 0 where its backend plans none. */
export type MemoryNeed = (size: LoadSize) => number;

const COMFORTABLE_SLOTS = 8;
/** Fewer slots than this only when memory forces it. */
export const USUAL_SLOTS = 4;
const LEAST_CTX = 512;

/** The window that a request asks for: never less than the model's own default, never more than it was trained for. */
export function wantedCtx(target: ModelTarget, requested: number | null): number {
  return Math.min(target.trainedCtx, Math.max(target.defaultCtx, requested ?? 0));
}

export interface Wish {
  readonly need: MemoryNeed;
  readonly wantedCtx: number;
  /** Pinned by the user, or null. */
  readonly slots: number | null;
}

/**
 * The best plan within `availableBytes`, or null: many slots when they are cheap, else four, else fewer, and only
 * then a smaller window.
 */
export function bestPlan(wish: Wish, availableBytes: number): LoadPlan | null {
  const comfortable = planAt(wish, wish.wantedCtx, COMFORTABLE_SLOTS);
  if (wish.slots === null && fits(comfortable.plannedBytes, availableBytes / 2)) return comfortable;
  return necessaryPlan(wish, availableBytes);
}

/** The same without comfort: what is worth an eviction. */
export function necessaryPlan(wish: Wish, availableBytes: number): LoadPlan | null {
  for (let slots = wish.slots ?? USUAL_SLOTS; slots >= 1; slots -= 1) {
    const plan = planAt(wish, wish.wantedCtx, slots);
    if (fits(plan.plannedBytes, availableBytes)) return plan;
    if (wish.slots !== null) break;
  }
  const slots = wish.slots ?? 1;
  for (let numCtx = Math.floor(wish.wantedCtx / 2); numCtx >= LEAST_CTX; numCtx = Math.floor(numCtx / 2)) {
    const plan = planAt(wish, numCtx, slots);
    if (fits(plan.plannedBytes, availableBytes)) return plan;
  }
  return null;
}

/** The smallest need that was considered, for the message of a refusal. */
export function leastBytes(wish: Wish): number {
  return planAt(wish, Math.min(wish.wantedCtx, LEAST_CTX), wish.slots ?? 1).plannedBytes;
}

/** What needs nothing always fits, even where more was promised than there is. */
export function fits(needBytes: number, availableBytes: number): boolean {
  return needBytes === 0 || needBytes <= availableBytes;
}

function planAt({ need }: Wish, numCtx: number, slots: number): LoadPlan {
  return { numCtx, slots, plannedBytes: need({ numCtx, slots }) };
}
