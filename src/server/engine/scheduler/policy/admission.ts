import { fail, type SvcError } from '../../../../lib/errors/svc-error.ts';
import type { QueueFull } from '../../ports.ts';
import type { SchedulerLimits } from '../limits.ts';
import { type Residency, residencies, queuedCount, type SchedulerState, type Ticket } from './state.ts';

const LEAST_RETRY_S = 1;
const MOST_RETRY_S = 60;

export function queueFull(state: SchedulerState, limits: SchedulerLimits): QueueFull {
  return { limit: limits.maxQueue, retryAfterS: retryAfterS(state) };
}

/**
 * The ticket to drop when the queue is full: the youngest of the flow with the most tickets, so a flooding client
 * cannot exclude others. The newcomer itself is dropped unless its flow is clearly lighter.
 */
export function surplusTicket(
  state: SchedulerState,
  limits: SchedulerLimits,
  newcomer: Ticket,
): Ticket | null {
  // With a queue of 0, a model that is not loaded yet could otherwise never be used.
  const ready = state.models.get(newcomer.modelId)?.residency?.state === 'ready';
  const limit = ready ? limits.maxQueue : Math.max(1, limits.maxQueue);
  if (queuedCount(state) <= limit) return null;
  // A job requeued after a crash was admitted before, so it neither counts nor is dropped.
  const flows = new Map<string, Ticket[]>();
  let waiting = 0;
  for (const model of state.models.values()) {
    for (const ticket of model.queue) {
      if (ticket.requeues > 0) continue;
      waiting += 1;
      const flow = flows.get(ticket.flow);
      if (flow === undefined) flows.set(ticket.flow, [ticket]);
      else flow.push(ticket);
    }
  }
  if (waiting <= limit) return null;
  let heaviest: Ticket[] = flows.get(newcomer.flow) ?? [newcomer];
  const own = heaviest.length;
  for (const flow of flows.values()) if (flow.length > Math.max(own, heaviest.length)) heaviest = flow;
  if (heaviest.length <= own) return newcomer;
  return heaviest.reduce((youngest, ticket) => (ticket.seq > youngest.seq ? ticket : youngest));
}

/** Refuses a chat before its body is read, with the bounds of `surplusTicket`; `flow` is its client's. */
export function surplusChat(state: SchedulerState, limits: SchedulerLimits, flow: string): QueueFull | null {
  const counts = new Map<string, number>();
  for (const model of state.models.values())
    for (const { flow: each } of model.queue) counts.set(each, (counts.get(each) ?? 0) + 1);
  let waiting = 1;
  let heaviest = 0;
  for (const [each, count] of counts) {
    waiting += count;
    if (each !== flow) heaviest = Math.max(heaviest, count);
  }
  const free = residencies(state).reduce(
    (total, { state: is, slots, running }) =>
      total + (is === 'ready' ? Math.max(0, slots - foreground(running)) : 0),
    0,
  );
  if (waiting <= Math.max(1, limits.maxQueue) + free) return null;
  return heaviest > (counts.get(flow) ?? 0) + 1 ? null : queueFull(state, limits);
}

const foreground = (running: Residency['running']): number =>
  [...running.values()].filter(({ isBackground }) => !isBackground).length;

export function retryAfterS(state: SchedulerState): number {
  const slots = residencies(state).reduce((total, residency) => total + residency.slots, 0);
  const aheadMs = (queuedCount(state) + 1) * state.meanJobMs;
  return boundedRetryS(aheadMs / Math.max(1, slots));
}

const boundedRetryS = (ms: number): number =>
  Math.min(MOST_RETRY_S, Math.max(LEAST_RETRY_S, Math.ceil(ms / 1_000)));

/** Names the rest of the drain, because no earlier retry can succeed. */
export const drainingError = ({ drainUntilMs }: SchedulerState, nowMs: number): SvcError =>
  fail('draining', { retryAfterS: boundedRetryS(drainUntilMs - nowMs) });
