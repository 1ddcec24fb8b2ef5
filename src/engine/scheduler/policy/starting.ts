/** Step 3 of the tree: every free slot takes the next job in fair order, below the claim on its residency. */
import { nextTicket, takeTurn } from './fairness.ts';
import { type Residency, type ModelState, serves, type Ticket } from './state.ts';
import type { Walk } from './walk.ts';

export function startJobs(walk: Walk, claims: ReadonlyMap<number, number>): void {
  for (const model of walk.state.models.values()) {
    const { residency } = model;
    if (residency?.state !== 'ready') continue;
    const claim = claims.get(residency.id) ?? Number.POSITIVE_INFINITY;
    const belowSeq = Math.min(residency.retireFromSeq, claim);
    // One pass looks at both lanes, as it is taken at every event and over the whole queue.
    const may = (ticket: Ticket): boolean =>
      freeSlots(residency, ticket.lane) > 0 &&
      ticket.seq < belowSeq &&
      serves(residency, model.target, ticket.wantedCtx);
    let ticket = nextTicket(model, walk.limits.maxOvertakes, may);
    while (ticket !== undefined) {
      start(walk, model, residency, ticket);
      ticket = nextTicket(model, walk.limits.maxOvertakes, may);
    }
  }
}

function start(walk: Walk, model: ModelState, residency: Residency, ticket: Ticket): void {
  takeTurn(model, ticket);
  ticket.startedAtMs = walk.nowMs;
  residency.running.set(ticket.seq, ticket);
  if (ticket.lane === 'frozen') residency.frozenRunning += 1;
  residency.lastUsedMs = walk.nowMs;
  residency.expiresAtMs = null;
  walk.state.running.set(ticket.seq, { ticket, residency });
  walk.effects.startJob(ticket.seq, residency.id);
}

/** The frozen lane has one place per residency, apart from the shared slots. */
function freeSlots(residency: Residency, lane: Ticket['lane']): number {
  const used = lane === 'frozen' ? residency.frozenRunning : residency.running.size - residency.frozenRunning;
  return (lane === 'frozen' ? 1 : residency.slots) - used;
}
