/** Which window, how many slots and how many shared cells a load gets for the memory there is. Pure arithmetic. */
import { fits, scaled, totalBytes } from '../device-memory.ts';
import type { LoadSize, Memory, ModelTarget } from '../ports.ts';

export interface LoadPlan extends LoadSize {
  readonly memory: Memory;
}

/** What a load of this size takes; nothing where its backend plans none. */
export type MemoryNeed = (size: LoadSize) => Memory;

const COMFORTABLE_SLOTS = 8;
/** Fewer slots than this only when memory forces it. */
export const USUAL_SLOTS = 4;
const LEAST_CTX = 512;
/**
 * The slots share their cells, and any of them may use a whole window, so one window is what a model needs. Small
 * windows are given more, up to this many cells in all, because eight chats of usual length then wait for nobody.
 */
const COMFORTABLE_CELLS = 16_384;

/** The window that a request asks for: never less than the model's own default, never more than it was trained for. */
export function wantedCtx(target: ModelTarget, requested: number | null): number {
  return Math.min(target.trainedCtx, Math.max(target.defaultCtx, requested ?? 0));
}

export interface Wish {
  readonly need: MemoryNeed;
  readonly wantedCtx: number;
  /** Pinned by the user, or null. */
  readonly slots: number | null;
  /** The load that ran out of memory, or null: the next one has to be clearly smaller. */
  readonly below: LoadPlan | null;
}

/**
 * The best plan within what is available, or null: many slots and cells when they are cheap, else four slots that
 * share one window, else fewer, and only then a smaller window.
 */
export function bestPlan(wish: Wish, available: Memory): LoadPlan | null {
  const half = scaled(available, (bytes) => bytes / 2);
  const comfortable = comforts(wish)
    .map((size) => planAt(wish, size))
    .find((plan) => isSmaller(plan, wish.below) && fits(plan.memory, half));
  return comfortable ?? necessaryPlan(wish, available);
}

/** The same without comfort: what is worth an eviction. */
export function necessaryPlan(wish: Wish, available: Memory): LoadPlan | null {
  for (const size of necessities(wish)) {
    const plan = planAt(wish, size);
    if (isSmaller(plan, wish.below) && fits(plan.memory, available)) return plan;
  }
  return null;
}

/** The smallest need that was considered, for the message of a refusal. */
export function leastNeed(wish: Wish): Memory {
  return wish.need(oneWindow(Math.min(wish.wantedCtx, LEAST_CTX), wish.slots ?? 1));
}

function comforts({ wantedCtx: numCtx, slots }: Wish): LoadSize[] {
  const many = slots ?? COMFORTABLE_SLOTS;
  const cells = Math.max(numCtx, Math.min(COMFORTABLE_CELLS, numCtx * many));
  return [{ numCtx, slots: many, cells }, oneWindow(numCtx, many)];
}

function* necessities(wish: Wish): Generator<LoadSize> {
  const { slots: pinned } = wish;
  let numCtx = wish.wantedCtx;
  do {
    for (let slots = pinned ?? USUAL_SLOTS; slots >= (pinned ?? 1); slots -= 1)
      yield oneWindow(numCtx, slots);
    numCtx = Math.floor(numCtx / 2);
  } while (numCtx >= LEAST_CTX);
}

function oneWindow(numCtx: number, slots: number): LoadSize {
  return { numCtx, slots, cells: numCtx };
}

/** Half the cells; where those are the least already, half the slots. It must also take less. */
function isSmaller({ cells, slots, memory }: LoadPlan, below: LoadPlan | null): boolean {
  if (below === null) return true;
  if (totalBytes(memory) >= totalBytes(below.memory)) return false;
  if (cells <= below.cells / 2) return true;
  return below.cells / 2 < LEAST_CTX && cells <= below.cells && slots <= below.slots / 2;
}

function planAt({ need }: Wish, size: LoadSize): LoadPlan {
  return { ...size, memory: need(size) };
}
