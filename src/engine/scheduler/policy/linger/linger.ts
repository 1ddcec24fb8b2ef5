/**
 * engine/scheduler/policy/linger owns whether a free slot waits for the session that it served last: its next request
 * continues what the slot holds, and most agents send it within a second. It knows no KV state and not which sequence a
 * worker takes. A slot is held for the gap that was learned, for no longer than `mostLingerMs`, only beside jobs that run,
 * and never against a job that would have to wait longer than its fair share. Pure.
 */
import type { SchedulerLimits } from '../../limits.ts';
import type { ModelState, Residency, SchedulerState, Ticket } from '../state.ts';
import type { Walk } from '../walk.ts';

/** The session has sent a request. */
export function sessionArrived({ gaps }: SchedulerState, { flow, session }: Ticket, nowMs: number): void {
  if (session !== null) gaps.arrived(flow, session, nowMs);
}

/** A job has ended well and left its slot. */
export function slotFreed(
  { gaps }: SchedulerState,
  { mostLingerMs }: SchedulerLimits,
  {
    residency,
    ticket,
    nowMs,
  }: { readonly residency: Residency; readonly ticket: Ticket; readonly nowMs: number },
): void {
  const { flow, session, lane } = ticket;
  if (session === null || lane !== 'shared') return;
  // It did not wait for this answer, and is here already.
  if ([...residency.running.values()].some((other) => other.session === session)) return;
  gaps.ended(session, nowMs);
  const expectedMs = gaps.expectedMs(flow, session);
  // Who takes longer than that is not waited for at all.
  if (expectedMs !== null && expectedMs <= mostLingerMs)
    residency.lingering.set(session, { flow, untilMs: nowMs + expectedMs });
}

/** The slots of one residency that are held, as they are during one walk. */
export class HeldSlots {
  readonly #walk: Walk;
  readonly #model: ModelState;
  readonly #residency: Residency;
  #sharers: Sharers | null = null;

  constructor(walk: Walk, model: ModelState, residency: Residency) {
    this.#walk = walk;
    this.#model = model;
    this.#residency = residency;
    for (const [session, { untilMs }] of residency.lingering)
      if (untilMs <= walk.nowMs) residency.lingering.delete(session);
  }

  /** Whether the ticket has to leave the last free slots to sessions that will be back. */
  bars(ticket: Ticket): boolean {
    const { lingering, slots, inLane, running } = this.#residency;
    if (lingering.size === 0 || ticket.lane !== 'shared' || running.size === 0) return false;
    const forOthers = lingering.size - (ticket.session !== null && lingering.has(ticket.session) ? 1 : 0);
    if (slots - inLane.shared > forOthers) return false;
    if (ticket.overtaken >= this.#walk.limits.maxOvertakes) return false;
    const dueMs = this.#dueMs(ticket);
    if (dueMs <= this.#walk.nowMs) return false;
    this.#walk.wakeAt(dueMs);
    for (const { untilMs } of lingering.values()) this.#walk.wakeAt(untilMs);
    return true;
  }

  /** The moment until which the ticket may wait: with the time that the next slot takes to become free, its fair share. */
  #dueMs({ flow, enqueuedAtMs }: Ticket): number {
    this.#sharers ??= sharersOf(this.#model, this.#residency);
    const { meanJobMs } = this.#walk.state;
    const { slots } = this.#residency;
    const sessions = this.#sharers.size * (this.#sharers.get(flow)?.size ?? 1);
    const fairWaitMs = meanJobMs * (sessions / slots - 1);
    return enqueuedAtMs + fairWaitMs - meanJobMs / slots;
  }
}

/** The sessions of each flow that run, wait or are waited for. */
type Sharers = ReadonlyMap<string, ReadonlySet<string | number>>;

/** Who shares the slots: every flow has the same share of them, and every session the same share of its flow's. */
function sharersOf({ queue }: ModelState, { running, lingering }: Residency): Sharers {
  const flows = new Map<string, Set<string | number>>();
  const add = (flow: string, session: string | number): void => {
    const sessions = flows.get(flow);
    if (sessions === undefined) flows.set(flow, new Set([session]));
    else sessions.add(session);
  };
  for (const ticket of [...queue, ...running.values()])
    if (ticket.lane === 'shared') add(ticket.flow, ticket.session ?? ticket.seq);
  for (const [session, { flow }] of lingering) add(flow, session);
  return flows;
}
