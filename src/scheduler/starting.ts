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
    for (const lane of ['shared', 'frozen'] as const) {
      const may = (ticket: Ticket): boolean =>
        ticket.lane === lane && ticket.seq < belowSeq && serves(instance, model.target, ticket.wantedCtx);
      while (model.queue.length > 0 && freeSlots(instance, lane) > 0) {
        const ticket = nextTicket(model, walk.limits.maxOvertakes, may);
        if (ticket === undefined) break;
        start(walk, model, instance, ticket);
      }
    }
  }
}

function start(walk: Walk, model: ModelState, instance: Instance, ticket: Ticket): void {
  takeTurn(model, ticket);
  ticket.startedAtMs = walk.nowMs;
  instance.running.set(ticket.seq, ticket);
  instance.lastUsedMs = walk.nowMs;
  instance.expiresAtMs = null;
  walk.state.running.set(ticket.seq, { ticket, instance });
  walk.effects.startJob(ticket.seq, instance.id);
}

/** The frozen lane has one place per worker beside the shared slots. */
function freeSlots(instance: Instance, lane: Ticket['lane']): number {
  let used = 0;
  for (const ticket of instance.running.values()) if (ticket.lane === lane) used += 1;
  return (lane === 'frozen' ? 1 : instance.slots) - used;
}
