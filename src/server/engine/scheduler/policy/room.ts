import { bytesOn, fits, least, minus, plus, scaled, shortage } from '../../device-memory.ts';
import type { Memory } from '../../ports.ts';
import { bestPlan, type LoadPlan, leastNeed, necessaryPlan, type Wish } from '../memory-plan.ts';
import { type Residency, residencies, type ModelState, type SchedulerState } from './state.ts';

export type Room = { readonly need: Memory } & (
  | { readonly kind: 'there'; readonly plan: LoadPlan }
  /** All are idle and free enough memory; an empty list waits for models already ending. */
  | { readonly kind: 'evict'; readonly victims: readonly Residency[] }
  | { readonly kind: 'busy'; readonly victims: readonly Residency[] }
  | { readonly kind: 'never'; readonly free: Memory }
);

interface RoomRequest {
  readonly model: ModelState;
  readonly wish: Wish;
  readonly available: Memory;
  readonly maxLoadedModels: number | null;
}

export function roomFor(state: SchedulerState, request: RoomRequest): Room {
  const { model, wish, available, maxLoadedModels } = request;
  const all = residencies(state);
  const going = all.filter((residency) => residency.state === 'ending');
  const staying = all.filter((residency) => residency.state !== 'ending');
  const reachable = plus(available, sum(all));
  const necessary = necessaryPlan(wish, reachable);
  if (necessary === null) return { kind: 'never', need: leastNeed(wish), free: reachable };

  const need = necessary.memory;

  // A model is never in memory twice, so its own residency is evicted first.
  const own = staying.filter((residency) => residency.modelId === model.modelId);
  const others = staying.filter((residency) => residency.modelId !== model.modelId);
  const victims = [...own];
  const most = isCounted(necessary)
    ? (maxLoadedModels ?? Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY;
  const tooMany = (): boolean =>
    staying.filter(isCounted).length - victims.filter(isCounted).length + 1 > most;
  for (const candidate of others.sort(byUsefulness(state))) {
    const lack = shortage(need, plus(available, sum(going), sum(victims)));
    if (lack === null && !tooMany()) break;
    // Evicting a model that holds nothing on the short device would not help.
    if ((tooMany() && isCounted(candidate)) || (lack !== null && bytesOn(candidate.memory, lack.device) > 0))
      victims.push(candidate);
  }
  if (victims.some((victim) => !isIdle(state, victim))) return { kind: 'busy', need, victims };
  const crowded = all.filter(isCounted).length + 1 > most;
  if (victims.length > 0 || crowded || !fits(need, available)) return { kind: 'evict', need, victims };

  const plan = bestPlan(wish, available) ?? necessary;
  return { kind: 'there', need: plan.memory, plan };
}

export function isIdle(state: SchedulerState, residency: Residency): boolean {
  if (residency.state === 'loading') return state.models.get(residency.modelId)?.queue.length === 0;
  return residency.running.size === 0;
}

const isCounted = ({ memory }: { readonly memory: Memory }): boolean => memory.length > 0;

export function evictionOrder(state: SchedulerState): Residency[] {
  return residencies(state)
    .filter((residency) => residency.state !== 'ending' && isCounted(residency))
    .sort(byUsefulness(state));
}

function byUsefulness(state: SchedulerState): (a: Residency, b: Residency) => number {
  return (a, b) =>
    Number(isIdle(state, b)) - Number(isIdle(state, a)) || a.lastUsedMs - b.lastUsedMs || a.id - b.id;
}

function sum(list: readonly Residency[]): Memory {
  return plus(...list.map(({ memory }) => memory));
}

/**
 * Memory for a further load. Running loads have not taken their share yet. The system counts mapped weights as
 * available, so the free memory before any load minus the planned memory of loaded models is an upper bound.
 */
export function availableMemory(state: SchedulerState, free: Memory, reserveBytes: number): Memory {
  const all = residencies(state);
  const loading = all.filter((residency) => residency.state === 'loading');
  const unloaded = minus(free, sum(loading));
  const unplanned = minus(state.budget ?? free, sum(all));
  return scaled(least(unloaded, unplanned), (bytes) => bytes - reserveBytes);
}
