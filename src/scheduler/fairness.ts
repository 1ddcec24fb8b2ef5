/**
 * Whose turn it is within one model: start-time fair queueing over flows, first in first out within a flow.
 * A flow that floods only lengthens its own line. A ticket that was overtaken too often goes first all the same,
 * so that an endless row of new clients cannot starve an old one.
 */
import type { ModelState, Ticket } from './state.ts';

interface Ranked {
  readonly ticket: Ticket;
  readonly turn: number;
  readonly late: boolean;
}

/** The ticket to start next among those that `may` start. */
export function nextTicket(
  model: ModelState,
  maxOvertakes: number,
  may: (ticket: Ticket) => boolean,
): Ticket | undefined {
  let best: Ranked | undefined;
  for (const ranked of rankings(model, maxOvertakes)) {
    if (may(ranked.ticket) && (best === undefined || inOrder(ranked, best) < 0)) best = ranked;
  }
  return best?.ticket;
}

/** The whole queue in the order in which it would start now. */
export function fairOrder(model: ModelState, maxOvertakes: number): Ticket[] {
  return rankings(model, maxOvertakes)
    .sort(inOrder)
    .map(({ ticket }) => ticket);
}

/** Takes a ticket out of the queue as started: its flow has had its turn. */
export function takeTurn(model: ModelState, ticket: Ticket): void {
  const turn = Math.max(model.turn, model.turns.get(ticket.flow) ?? 0);
  model.queue.splice(model.queue.indexOf(ticket), 1);
  for (const waiting of model.queue) {
    if (waiting.seq > ticket.seq) break;
    waiting.overtaken += 1;
  }
  model.turn = Math.max(model.turn, turn);
  model.turns.set(ticket.flow, turn + ticket.cost);
  // A flow whose next turn has come already is like a new one.
  for (const [flow, next] of model.turns) if (next <= model.turn) model.turns.delete(flow);
}

function rankings(model: ModelState, maxOvertakes: number): Ranked[] {
  const ahead = new Map<string, number>();
  return model.queue.map((ticket) => {
    const before = ahead.get(ticket.flow) ?? 0;
    ahead.set(ticket.flow, before + ticket.cost);
    const start = Math.max(model.turn, model.turns.get(ticket.flow) ?? 0);
    return { ticket, turn: start + before, late: ticket.overtaken >= maxOvertakes };
  });
}

function inOrder(a: Ranked, b: Ranked): number {
  if (a.late !== b.late) return a.late ? -1 : 1;
  if (!a.late && a.turn !== b.turn) return a.turn - b.turn;
  return a.ticket.seq - b.ticket.seq;
}
