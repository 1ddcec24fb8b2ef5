/** Step 3 of the tree: every free slot takes the next job in fair order, below the claim on its instance. */
import { nextTicket, takeTurn } from './fairness.ts';
import { type Instance, type ModelState, serves, type Ticket } from './state.ts';
import type { Walk } from './walk.ts';

export function startJobs(walk: Walk, claims: ReadonlyMap<number, number>): void {
  for (const model of walk.state.models.values()) {
    const { instance } = model;
    if (instance?.state !== 'ready') continue;
    const claim = claims.get(instance.id) ?? Number.POSITIVE_INFINITY;
    const belowSeq = Math.min(instance.retireFromSeq, claim);
    // One pass looks at both lanes, as it is taken at every event and over the whole queue.
    const may = (ticket: Ticket): boolean =>
      freeSlots(instance, ticket.lane) > 0 &&
      ticket.seq < belowSeq &&
      serves(instance, model.target, ticket.wantedCtx);
    let ticket = nextTicket(model, walk.limits.maxOvertakes, may);
    while (ticket !== undefined) {
      start(walk, model, instance, ticket);
      ticket = nextTicket(model, walk.limits.maxOvertakes, may);
    }
  }
}

function start(walk: Walk, model: ModelState, instance: Instance, ticket: Ticket): void {
  takeTurn(model, ticket);
  ticket.startedAtMs = walk.nowMs;
  instance.running.set(ticket.seq, ticket);
  if (ticket.lane === 'frozen') instance.frozenRunning += 1;
  instance.lastUsedMs = walk.nowMs;
  instance.expiresAtMs = null;
  walk.state.running.set(ticket.seq, { ticket, instance });
  walk.effects.startJob(ticket.seq, instance.id);
}

/** The frozen lane has one place per worker beside the shared slots. */
function freeSlots(instance: Instance, lane: Ticket['lane']): number {
  const used = lane === 'frozen' ? instance.frozenRunning : instance.running.size - instance.frozenRunning;
  return (lane === 'frozen' ? 1 : instance.slots) - used;
}
