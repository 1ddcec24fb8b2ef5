/** Plain state of the scheduler. Only policy.ts and its parts write it, one event at a time. */
import type { Memory, ModelTarget, ResidencyFacts } from '../../ports.ts';
import type { LoadPlan } from '../memory-plan.ts';
import type { SvcError } from '../../../../lib/errors/svc-error.ts';

/** `shared`: in a slot. `frozen`: alone in its own context. `light`: evaluates nothing, so it takes neither. */
export type Lane = 'shared' | 'frozen' | 'light';

/** One submission from admission to its end. `seq` is its id and its place in the order of arrival. */
export interface Ticket {
  readonly seq: number;
  readonly modelId: string;
  /** Fairness key: client and kind of work together, because neither may starve the other. */
  readonly flow: string;
  readonly lane: Lane;
  readonly cost: number;
  readonly isBackground: boolean;
  readonly wantedCtx: number;
  readonly keepAliveMs: number | null;
  /** Equal for jobs that differ only in their id. Costly, so computed only after a crash. */
  readonly poisonKey: () => string;
  readonly grammarKey: () => string | null;
  readonly enqueuedAtMs: number;
  startedAtMs: number;
  overtaken: number;
  requeues: number;
  isPreempted: boolean;
  notified: { readonly position: number; readonly reason: string } | null;
}

export interface Residency {
  readonly id: number;
  readonly modelId: string;
  readonly target: ModelTarget;
  /** `ending`: nothing starts on it, but its memory still counts. */
  state: 'loading' | 'ready' | 'ending';
  facts: ResidencyFacts | null;
  readonly wantedCtx: number;
  readonly plan: LoadPlan;
  memory: Memory;
  slots: number;
  readonly running: Map<number, Ticket>;
  readonly inLane: Record<Lane, number>;
  readonly startedAtMs: number;
  readyAtMs: number;
  lastUsedMs: number;
  keepAliveMs: number;
  expiresAtMs: number | null;
  /** Tickets from this number on do not start here, because an unload was requested. */
  retireFromSeq: number;
}

export interface ModelState {
  readonly modelId: string;
  /** From the latest submission: a model that was replaced in the store is loaded again. */
  target: ModelTarget;
  readonly queue: Ticket[];
  residency: Residency | null;
  /** Start-time fair queueing: the turn reached, and the next turn of each flow beyond it. */
  turn: number;
  readonly turns: Map<string, number>;
  waitReason: string;
  failures: number;
  lastFailure: SvcError | null;
  retryAtMs: number;
  quarantinedUntilMs: number;
  /** An out-of-memory load was retried; the next failure is final. */
  memoryRetried: boolean;
  below: LoadPlan | null;
  measured: { readonly revision: string; isOut: boolean } | null;
}

interface PoisonEntry {
  crashes: number;
  untilMs: number;
}

export interface SchedulerState {
  readonly models: Map<string, ModelState>;
  readonly held: Ticket[];
  lastSeq: number;
  nextResidencyId: number;
  readonly running: Map<number, { readonly ticket: Ticket; readonly residency: Residency }>;
  draining: boolean;
  drainUntilMs: number;
  /** Free memory while no model was loaded: mapped weights may count as available to the system. */
  budget: Memory | null;
  meanJobMs: number;
  readonly poison: Map<string, PoisonEntry>;
  lastNotifyMs: number;
}

export function initialState(): SchedulerState {
  return {
    models: new Map(),
    held: [],
    lastSeq: 0,
    nextResidencyId: 1,
    running: new Map(),
    draining: false,
    drainUntilMs: 0,
    budget: null,
    meanJobMs: 1_000,
    poison: new Map(),
    lastNotifyMs: Number.NEGATIVE_INFINITY,
  };
}

export function modelState(state: SchedulerState, target: ModelTarget): ModelState {
  const known = state.models.get(target.modelId);
  if (known !== undefined) return known;
  const fresh: ModelState = {
    modelId: target.modelId,
    target,
    queue: [],
    residency: null,
    turn: 0,
    turns: new Map(),
    waitReason: '',
    failures: 0,
    lastFailure: null,
    retryAtMs: Number.NEGATIVE_INFINITY,
    quarantinedUntilMs: Number.NEGATIVE_INFINITY,
    memoryRetried: false,
    below: null,
    measured: null,
  };
  state.models.set(target.modelId, fresh);
  return fresh;
}

export function insertByAge(queue: Ticket[], ticket: Ticket): void {
  const index = queue.findIndex((waiting) => waiting.seq > ticket.seq);
  queue.splice(index < 0 ? queue.length : index, 0, ticket);
}

export function residencies(state: SchedulerState): Residency[] {
  return [...state.models.values()].flatMap((model) => (model.residency === null ? [] : [model.residency]));
}

export function queuedCount(state: SchedulerState): number {
  let count = 0;
  for (const model of state.models.values()) count += model.queue.length;
  return count;
}

export function servesTicket(residency: Residency, target: ModelTarget, ticket: Ticket): boolean {
  return serves(residency, target, ticket.lane === 'light' ? 0 : ticket.wantedCtx);
}

export function serves(residency: Residency, target: ModelTarget, wantedCtx: number): boolean {
  return residency.target.revision === target.revision && wantedCtx <= residency.wantedCtx;
}
