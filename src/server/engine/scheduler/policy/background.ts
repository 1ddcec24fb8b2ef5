/**
 * Step 0 of the tree and the end of step 3: background jobs. They are held outside the queues while any other job
 * waits or runs, join one by one when none does, and yield their slots to newcomers.
 */
import { fail, type SvcError } from '../../../../lib/errors/svc-error.ts';
import { retryAfterS } from './admission.ts';
import { quarantineError } from './faults.ts';
import {
  insertByAge,
  type ModelState,
  type Residency,
  type SchedulerState,
  servesTicket,
  type Ticket,
} from './state.ts';
import { type Need, findRoom } from './switching.ts';
import type { DecisionPass } from './decision-pass.ts';

export function surplusHeld(state: SchedulerState, limit: number): SvcError | null {
  return state.held.length <= limit ? null : fail('queue_full', { limit, retryAfterS: retryAfterS(state) });
}

export function releaseBackground(pass: DecisionPass): void {
  const { state } = pass;
  if (state.held.length === 0 && !hasBackgroundQueued(state)) return;
  if (isInUse(state)) return takeBack(state);
  for (const ticket of state.held.slice()) {
    const model = state.models.get(ticket.modelId);
    if (model === undefined) continue;
    const refusal = quarantineError(model, pass.nowMs);
    if (refusal === null && !mayJoin(pass, model, ticket)) continue;
    state.held.splice(state.held.indexOf(ticket), 1);
    if (refusal === null) insertByAge(model.queue, ticket);
    else pass.effects.rejectJob(ticket.seq, refusal);
  }
}

export function preemptBackground(pass: DecisionPass, needs: readonly Need[]): void {
  if (!isInUse(pass.state)) return;
  for (const model of pass.state.models.values()) {
    const { residency } = model;
    if (residency?.state !== 'ready') continue;
    const waiting = model.queue.filter(
      (ticket) =>
        !ticket.isBackground && ticket.lane === 'shared' && servesTicket(residency, model.target, ticket),
    ).length;
    const leaving = backgroundOn(residency).filter(({ isPreempted }) => isPreempted).length;
    preempt(pass, residency, waiting - leaving);
  }
  for (const { model } of needs) {
    const room = findRoom(pass, model);
    if (room.kind === 'busy') for (const victim of room.victims) preempt(pass, victim, Infinity);
  }
}

/** The youngest have done the least work. */
function preempt(pass: DecisionPass, residency: Residency, most: number): void {
  const staying = backgroundOn(residency).filter(({ isPreempted }) => !isPreempted);
  for (const ticket of staying.toSorted((a, b) => b.startedAtMs - a.startedAtMs || b.seq - a.seq)) {
    if (most <= 0) return;
    most -= 1;
    ticket.isPreempted = true;
    pass.effects.preemptJob(ticket.seq);
  }
}

const backgroundOn = ({ running }: Residency): Ticket[] =>
  [...running.values()].filter(({ isBackground }) => isBackground);

function isInUse({ models, running }: SchedulerState): boolean {
  for (const { queue } of models.values()) if (queue.some(({ isBackground }) => !isBackground)) return true;
  for (const { ticket } of running.values()) if (!ticket.isBackground) return true;
  return false;
}

export const mayRelease = (state: SchedulerState): boolean => state.held.length > 0 && !isInUse(state);

const hasBackgroundQueued = ({ models }: SchedulerState): boolean =>
  [...models.values()].some(({ queue }) => queue.some(({ isBackground }) => isBackground));

function takeBack(state: SchedulerState): void {
  for (const { queue } of state.models.values()) {
    for (const ticket of queue.filter(({ isBackground }) => isBackground)) {
      queue.splice(queue.indexOf(ticket), 1);
      insertByAge(state.held, ticket);
    }
  }
}

/** One slot stays free for new jobs, and no recently used model is evicted for a background job. */
function mayJoin(pass: DecisionPass, model: ModelState, ticket: Ticket): boolean {
  const { residency, queue } = model;
  const slots = residency?.state === 'ready' ? residency.slots : 1;
  const busy = queue.length + (residency?.running.size ?? 0);
  if (busy >= Math.max(1, slots - 1)) return false;
  if (residency !== null && servesTicket(residency, model.target, ticket)) return true;
  const room = findRoom(pass, model, ticket.wantedCtx);
  if (room.kind === 'busy') return false;
  if (room.kind !== 'evict') return true;
  const freeAtMs =
    Math.max(...room.victims.map(({ lastUsedMs }) => lastUsedMs)) + pass.limits.backgroundIdleMs;
  pass.wakeAt(freeAtMs);
  return pass.nowMs >= freeAtMs;
}
