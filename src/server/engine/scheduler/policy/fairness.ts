/**
 * Order within one model: start-time fair queueing over flows, FIFO within a flow. A flooding flow only lengthens its
 * own line. A ticket overtaken too often goes first, because an endless row of new clients must not starve an old
 * one.
 */
import { type ModelState, type Ticket, type Lane, type Residency, servesTicket } from './state.ts';
import type { DecisionPass } from './decision-pass.ts';

interface Ranked {
  readonly ticket: Ticket;
  readonly turn: number;
  readonly late: boolean;
}

/**
 * The next ticket among those that `may` start. One pass without allocation, because it runs at every job's end: the
 * queue is in order of arrival, so the most overtaken comes first, and the first ticket of a flow is its best.
 */
function nextTicket(
  model: ModelState,
  maxOvertakes: number,
  may: (ticket: Ticket) => boolean,
): Ticket | undefined {
  let best: Ticket | undefined;
  let bestTurn = Number.POSITIVE_INFINITY;
  for (const ticket of model.queue) {
    if (!may(ticket)) continue;
    const turn = nextTurn(model, ticket.flow);
    // No later ticket can precede this one, and no earlier one is overtaken too often or due.
    if (ticket.overtaken >= maxOvertakes || turn === model.turn) return ticket;
    if (turn < bestTurn) {
      best = ticket;
      bestTurn = turn;
    }
  }
  return best;
}

export function fairOrder(model: ModelState, maxOvertakes: number): Ticket[] {
  return rankings(model, maxOvertakes)
    .sort(inOrder)
    .map(({ ticket }) => ticket);
}

export function positionOfYoungest(model: ModelState, maxOvertakes: number): number {
  const youngest = model.queue.at(-1);
  if (youngest === undefined) return 1;
  let own = nextTurn(model, youngest.flow);
  for (const { flow, cost } of model.queue) if (flow === youngest.flow) own += cost;
  own -= youngest.cost;
  const ahead = new Map<string, number>();
  let before = 0;
  for (const { flow, cost, overtaken } of model.queue) {
    const turn = ahead.get(flow) ?? nextTurn(model, flow);
    ahead.set(flow, turn + cost);
    if (overtaken >= maxOvertakes || turn <= own) before += 1;
  }
  return before;
}

function takeTurn(model: ModelState, ticket: Ticket): void {
  const turn = nextTurn(model, ticket.flow);
  model.queue.splice(model.queue.indexOf(ticket), 1);
  for (const waiting of model.queue) {
    if (waiting.seq > ticket.seq) break;
    waiting.overtaken += 1;
  }
  model.turn = Math.max(model.turn, turn);
  model.turns.set(ticket.flow, turn + ticket.cost);
  // A flow that has reached its next turn is like a new one.
  for (const [flow, next] of model.turns) if (next <= model.turn) model.turns.delete(flow);
}

function rankings(model: ModelState, maxOvertakes: number): Ranked[] {
  const ahead = new Map<string, number>();
  return model.queue.map((ticket) => {
    const before = ahead.get(ticket.flow) ?? 0;
    ahead.set(ticket.flow, before + ticket.cost);
    return { ticket, turn: nextTurn(model, ticket.flow) + before, late: ticket.overtaken >= maxOvertakes };
  });
}

function nextTurn(model: ModelState, flow: string): number {
  return Math.max(model.turn, model.turns.get(flow) ?? 0);
}

function inOrder(a: Ranked, b: Ranked): number {
  if (a.late !== b.late) return a.late ? -1 : 1;
  if (!a.late && a.turn !== b.turn) return a.turn - b.turn;
  return a.ticket.seq - b.ticket.seq;
}

/** Step 3 of the tree: every free slot takes the next job in fair order, below the claim on its residency. */
export function startJobs(pass: DecisionPass, claims: ReadonlyMap<number, number>): void {
  for (const model of pass.state.models.values()) {
    const { residency } = model;
    if (residency?.state !== 'ready') continue;
    const claim = claims.get(residency.id) ?? Number.POSITIVE_INFINITY;
    const belowSeq = Math.min(residency.retireFromSeq, claim);
    // One pass covers all lanes, because it runs at every event and over the whole queue.
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

/** Chosen: enough light jobs that the worker never waits for the next one. */
const LIGHT_PLACES = 4;

/** The frozen lane has one place per residency, apart from the shared slots; light jobs take neither. */
function freeSlots({ slots, inLane }: Residency, lane: Lane): number {
  const places = { shared: slots, frozen: 1, light: LIGHT_PLACES };
  return places[lane] - inLane[lane];
}
