/**
 * Where the memory for a load comes from: it is there, or idle models make room, or busy ones will have to.
 * Pure: it changes nothing and causes nothing.
 */
import { bestPlan, fits, type LoadPlan, leastBytes, necessaryPlan, type Wish } from '../memory-plan.ts';
import { type Residency, residencies, type ModelState, type SchedulerState } from './state.ts';

export type Room = { readonly needBytes: number } & (
  | { readonly kind: 'there'; readonly plan: LoadPlan }
  /** All of these are idle and, once gone, leave enough room; an empty list waits for those that are going. */
  | { readonly kind: 'evict'; readonly victims: readonly Residency[] }
  /** Some of these are busy. */
  | { readonly kind: 'busy'; readonly victims: readonly Residency[] }
  | { readonly kind: 'never'; readonly freeBytes: number }
);

export interface RoomRequest {
  readonly model: ModelState;
  readonly wish: Wish;
  readonly availableBytes: number;
  readonly maxLoadedModels: number | null;
}

export function roomFor(state: SchedulerState, request: RoomRequest): Room {
  const { model, wish, availableBytes, maxLoadedModels } = request;
  const all = residencies(state);
  const going = all.filter((residency) => residency.state === 'ending');
  const staying = all.filter((residency) => residency.state !== 'ending');
  const reachableBytes = availableBytes + sum(all);
  const necessary = necessaryPlan(wish, reachableBytes);
  if (necessary === null) return { kind: 'never', needBytes: leastBytes(wish), freeBytes: reachableBytes };

  const needBytes = necessary.plannedBytes;

  // A model is never in memory twice, so its own residency always has to go first.
  const own = staying.filter((residency) => residency.modelId === model.modelId);
  const others = staying.filter((residency) => residency.modelId !== model.modelId);
  const victims = [...own];
  const enough = (): boolean => {
    const left = staying.length - victims.length;
    const freed = availableBytes + sum(going) + sum(victims);
    return fits(needBytes, freed) && left + 1 <= (maxLoadedModels ?? Number.POSITIVE_INFINITY);
  };
  for (const candidate of others.sort(byUsefulness(state))) {
    if (enough()) break;
    victims.push(candidate);
  }
  if (victims.some((victim) => !isIdle(state, victim))) return { kind: 'busy', needBytes, victims };
  const crowded = all.length + 1 > (maxLoadedModels ?? Number.POSITIVE_INFINITY);
  if (victims.length > 0 || crowded || !fits(needBytes, availableBytes))
    return { kind: 'evict', needBytes, victims };

  const plan = bestPlan(wish, availableBytes) ?? necessary;
  return { kind: 'there', needBytes: plan.plannedBytes, plan };
}

/** Nothing runs on it; an abandoned load counts too. */
export function isIdle(state: SchedulerState, residency: Residency): boolean {
  if (residency.state === 'loading') return state.models.get(residency.modelId)?.queue.length === 0;
  return residency.running.size === 0;
}

/** Idle before busy, least recently used first. */
function byUsefulness(state: SchedulerState): (a: Residency, b: Residency) => number {
  return (a, b) =>
    Number(isIdle(state, b)) - Number(isIdle(state, a)) || a.lastUsedMs - b.lastUsedMs || a.id - b.id;
}

function sum(list: readonly Residency[]): number {
  return list.reduce((total, { plannedBytes }) => total + plannedBytes, 0);
}

/**
 * Bytes for a further load. Loads under way have not taken their share yet; and as the system counts mapped weights as
 * available, what was free before any load minus what the loaded ones were planned with bounds it too.
 */
export function availableBytes(state: SchedulerState, freeBytes: number, reserveBytes: number): number {
  const all = residencies(state);
  const loading = all.filter((residency) => residency.state === 'loading');
  const budget = state.budgetBytes ?? freeBytes;
  return Math.min(freeBytes - sum(loading), budget - sum(all)) - reserveBytes;
}
