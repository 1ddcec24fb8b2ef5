/** Step 3 of the tree: every free slot takes the next job in fair order, below the claim on its residency. */
import { nextTicket, takeTurn } from './fairness.ts';
import { type Lane, type Residency, type ModelState, servesTicket, type Ticket } from './state.ts';
import type { DecisionPass } from './decision-pass.ts';

export function startJobs(pass: DecisionPass, claims: ReadonlyMap<number, number>): void {
  for (const model of pass.state.models.values()) {
    const { residency } = model;
    if (residency?.state !== 'ready') continue;
    const claim = claims.get(residency.id) ?? Number.POSITIVE_INFINITY;
    const belowSeq = Math.min(residency.retireFromSeq, claim);
    // One pass looks at all lanes, as it is taken at every event and over the whole queue.
    const may = (ticket: Ticket): boolean =>
      freeSlots(residency, ticket.lane) > 0 &&
      ticket.seq < belowSeq &&
      servesTicket(residency, model.target, ticket);
    let ticket = nextTicket(model, pass.limits.maxOvertakes, may);
    while (ticket !== undefined) {
      start(pass, model, residency, ticket);
      ticket = nextTicket(model, pass.limits.maxOvertakes, may);
    }
  }
}

function start(pass: DecisionPass, model: ModelState, residency: Residency, ticket: Ticket): void {
  takeTurn(model, ticket);
  ticket.startedAtMs = pass.nowMs;
  residency.running.set(ticket.seq, ticket);
  residency.inLane[ticket.lane] += 1;
  residency.lastUsedMs = pass.nowMs;
  residency.expiresAtMs = null;
  pass.state.running.set(ticket.seq, { ticket, residency });
  pass.effects.startJob(ticket.seq, residency.id);
}

/** Light jobs that the worker holds at a time: enough that it never waits for the next one. */
const LIGHT_PLACES = 4;

/** The frozen lane has one place per residency, apart from the shared slots; light jobs take none of either. */
function freeSlots({ slots, inLane }: Residency, lane: Lane): number {
  const places = { shared: slots, frozen: 1, light: LIGHT_PLACES };
  return places[lane] - inLane[lane];
}
