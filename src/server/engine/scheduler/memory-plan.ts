import { fits, scaled, totalBytes, minus, type Shortage, shortage } from '../device-memory.ts';
import type { LoadSize, Memory, ModelTarget } from '../ports.ts';
import { HOST_DEVICE } from '../../../contract/memory.ts';

export interface LoadPlan extends LoadSize {
  readonly memory: Memory;
}

type MemoryNeed = (size: LoadSize) => Memory;

const COMFORTABLE_SLOTS = 8;
export const USUAL_SLOTS = 4;
/** Smaller only if a request names the window. */
const LEAST_PLANNED_CTX = 512;
/**
 * Chosen: slots share cells and any may use a whole window, so one window is enough. Small windows get up to this
 * many cells in all, because eight chats of usual length then never wait.
 */
const COMFORTABLE_CELLS = 16_384;

const AMPLE_WINDOWS = [65_536, 32_768];
/** Initial window of agents: chosen where memory allows, regardless of its share of the model. */
const USUAL_WINDOW = 16_384;
const LEAST_USUAL_WINDOW = 4_096;

export function wantedCtx(target: ModelTarget, requested: number | null): number {
  return Math.min(target.trainedCtx, Math.max(target.defaultCtx ?? 0, requested ?? 0));
}

export function mostChosenCtx({ defaultCtx, trainedCtx }: ModelTarget): number | null {
  return defaultCtx === null ? trainedCtx : null;
}

export interface Wish {
  readonly need: MemoryNeed;
  readonly wantedCtx: number;
  readonly mostCtx: number | null;
  readonly slots: number | null;
  /** The load that ran out of memory; the next one must be clearly smaller. */
  readonly below: LoadPlan | null;
}

/**
 * Prefers a large window, many slots and cells when cheap; then four slots that share one window; then fewer slots;
 * then a smaller window. Null if nothing fits.
 */
export function bestPlan(wish: Wish, available: Memory): LoadPlan | null {
  const half = scaled(available, (bytes) => bytes / 2);
  const comfortable = comforts(wish)
    .map((size) => planAt(wish, size))
    .find((plan) => isSmaller(plan, wish.below) && fits(plan.memory, half));
  return comfortable ?? firstFitting(wish, chosenCtx(wish, USUAL_WINDOW), available);
}

export function necessaryPlan(wish: Wish, available: Memory): LoadPlan | null {
  return firstFitting(wish, chosenCtx(wish, LEAST_USUAL_WINDOW), available);
}

export function leastNeed(wish: Wish): Memory {
  return wish.need(leastSize(wish));
}

function leastSize(wish: Wish): LoadSize {
  return oneWindow(Math.min(chosenCtx(wish, LEAST_PLANNED_CTX), LEAST_PLANNED_CTX), wish.slots ?? 1);
}

function chosenCtx({ wantedCtx: least, mostCtx }: Wish, usual: number): number {
  return mostCtx === null ? least : Math.max(least, Math.min(mostCtx, usual));
}

function comforts(wish: Wish): LoadSize[] {
  const windows = new Set([
    ...AMPLE_WINDOWS.map((usual) => chosenCtx(wish, usual)).filter((numCtx) => isInProportion(wish, numCtx)),
    chosenCtx(wish, USUAL_WINDOW),
  ]);
  return [...windows].flatMap((numCtx) => comfortableSizes(wish, numCtx));
}

function comfortableSizes({ slots }: Wish, numCtx: number): LoadSize[] {
  const many = slots ?? COMFORTABLE_SLOTS;
  const cells = Math.max(numCtx, Math.min(COMFORTABLE_CELLS, numCtx * many));
  return [{ numCtx, slots: many, cells }, oneWindow(numCtx, many)];
}

/**
 * All cells are written once when a context opens, so a chosen window takes at most as much as the rest of the model.
 */
function isInProportion(wish: Wish, numCtx: number): boolean {
  const least = totalBytes(wish.need(leastSize(wish)));
  return totalBytes(wish.need(oneWindow(numCtx, wish.slots ?? COMFORTABLE_SLOTS))) <= 2 * least;
}

function firstFitting(wish: Wish, largest: number, available: Memory): LoadPlan | null {
  for (const size of necessities(wish, largest)) {
    const plan = planAt(wish, size);
    if (isSmaller(plan, wish.below) && fits(plan.memory, available)) return plan;
  }
  return null;
}

function* necessities({ slots: pinned }: Wish, largest: number): Generator<LoadSize> {
  let numCtx = largest;
  do {
    for (let slots = pinned ?? USUAL_SLOTS; slots >= (pinned ?? 1); slots -= 1)
      yield oneWindow(numCtx, slots);
    numCtx = Math.floor(numCtx / 2);
  } while (numCtx >= LEAST_PLANNED_CTX);
}

function oneWindow(numCtx: number, slots: number): LoadSize {
  return { numCtx, slots, cells: numCtx };
}

/** Half the cells, or half the slots if the cells are minimal. It must also take less memory. */
function isSmaller({ cells, slots, memory }: LoadPlan, below: LoadPlan | null): boolean {
  if (below === null) return true;
  if (totalBytes(memory) >= totalBytes(below.memory)) return false;
  if (cells <= below.cells / 2) return true;
  return below.cells / 2 < LEAST_PLANNED_CTX && cells <= below.cells && slots <= below.slots / 2;
}

function planAt({ need }: Wish, size: LoadSize): LoadPlan {
  return { ...size, memory: need(size) };
}

export function whyTooLarge(need: Memory, free: Memory): string {
  const lack = shortage(need, free) ?? tightest(need, free);
  if (lack === null) return 'no smaller load is left to try';
  const [on, there] = lack.device === HOST_DEVICE ? ['', ''] : [` on ${lack.device}`, ' there'];
  return `it needs about ${lack.needBytes} bytes${on}, ${wholeBytes(lack.freeBytes)} are free${there}`;
}

export function whyNoRoom(reason: string, planned: Memory, free: Memory): string {
  return planned.length === 0 ? reason : `${reason}; ${whyTooLarge(planned, free)}`;
}

function tightest(need: Memory, free: Memory): Shortage | null {
  const [first] = [...minus(free, need)].sort((a, b) => a.bytes - b.bytes);
  if (first === undefined) return null;
  const on = (memory: Memory) => memory.find(({ device }) => device === first.device)?.bytes ?? 0;
  return { device: first.device, needBytes: on(need), freeBytes: on(free) };
}

function wholeBytes(bytes: number): number {
  return Math.max(0, Math.floor(bytes));
}
