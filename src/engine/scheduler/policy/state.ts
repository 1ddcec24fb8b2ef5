/** The plain state that decisions read and change. Only policy.ts and its parts write it, one event at a time. */
import type { Memory, ModelTarget, ResidencyFacts } from '../../ports.ts';
import type { LoadPlan } from '../memory-plan.ts';
import type { SvcError } from '../../../lib/errors/svc-error.ts';

/**
 * Place of a job: `shared` in a slot, `frozen` alone in a context of its own, `light` beside both, because it evaluates
 * nothing.
 */
export type Lane = 'shared' | 'frozen' | 'light';

/** One submission, from admission to its end. `seq` is its place in the order of arrival and its name. */
export interface Ticket {
  readonly seq: number;
  readonly modelId: string;
  /** Key of fairness: client and kind of work together, because neither may starve the other. */
  readonly flow: string;
  readonly lane: Lane;
  /** Share of a turn that it uses up. */
  readonly cost: number;
  /** It runs only while no other job waits or runs. */
  readonly isBackground: boolean;
  readonly wantedCtx: number;
  readonly keepAliveMs: number | null;
  /** Names jobs that are the same but for their id; costly, so computed only when something crashed before. */
  readonly poisonKey: () => string;
  /** Names what a job's answer is held to; null: nothing of the client's. */
  readonly grammarKey: () => string | null;
  readonly enqueuedAtMs: number;
  startedAtMs: number;
  overtaken: number;
  requeues: number;
  isPreempted: boolean;
  /** Last report to its client. */
  told: { readonly position: number; readonly reason: string } | null;
}

export interface Residency {
  readonly id: number;
  readonly modelId: string;
  readonly target: ModelTarget;
  /** `ending`: its worker is going or gone; nothing starts on it, but its memory still counts. */
  state: 'loading' | 'ready' | 'ending';
  facts: ResidencyFacts | null;
  /** The window requested by its load; the plan may have granted less. */
  readonly wantedCtx: number;
  readonly plan: LoadPlan;
  /** Memory that it counts for: as planned, and as measured once it is loaded. */
  memory: Memory;
  slots: number;
  readonly running: Map<number, Ticket>;
  readonly inLane: Record<Lane, number>;
  readonly startedAtMs: number;
  readyAtMs: number;
  lastUsedMs: number;
  keepAliveMs: number;
  /** Monotonic time of its unload without new jobs; null while busy or without one. */
  expiresAtMs: number | null;
  /** Tickets from this number on do not start here, because an unload was requested. */
  retireFromSeq: number;
}

export interface ModelState {
  readonly modelId: string;
  /** Of the latest submission: a model that was replaced in the store is loaded again. */
  target: ModelTarget;
  /** In order of arrival. */
  readonly queue: Ticket[];
  residency: Residency | null;
  /** Start-time fair queueing: the turn reached, and the next turn of each flow that is beyond it. */
  turn: number;
  readonly turns: Map<string, number>;
  /** Reason why its queue waits, as a plain phrase. */
  waitReason: string;
  failures: number;
  lastFailure: SvcError | null;
  retryAtMs: number;
  quarantinedUntilMs: number;
  /** An out-of-memory load was answered by another try; the next one is final. */
  memoryRetried: boolean;
  /** ... which has to be smaller than this one. */
  below: LoadPlan | null;
  /** The revision whose memory was last requested, and whether the answer is pending. */
  measured: { readonly revision: string; isOut: boolean } | null;
}

interface PoisonEntry {
  crashes: number;
  untilMs: number;
}

export interface SchedulerState {
  readonly models: Map<string, ModelState>;
  /** Waiting background jobs in order of arrival; they run when no other job does. */
  readonly held: Ticket[];
  lastSeq: number;
  nextResidencyId: number;
  /** Residency of each started ticket, until its end is reported. */
  readonly running: Map<number, { readonly ticket: Ticket; readonly residency: Residency }>;
  draining: boolean;
  /** Free memory while no model was loaded: mapped weights may count as available to the system. */
  budget: Memory | null;
  /** Moving average of the time from start to end of a job. */
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

/** Whether a waiting job can run on the residency as it is loaded; a light one needs no window. */
export function servesTicket(residency: Residency, target: ModelTarget, ticket: Ticket): boolean {
  return serves(residency, target, ticket.lane === 'light' ? 0 : ticket.wantedCtx);
}

/** Whether a job for this target and window can run on the residency as it is loaded. */
export function serves(residency: Residency, target: ModelTarget, wantedCtx: number): boolean {
  return residency.target.revision === target.revision && wantedCtx <= residency.wantedCtx;
}
