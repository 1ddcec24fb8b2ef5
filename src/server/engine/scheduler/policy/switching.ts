/** Steps 1, 2 and 4 of the tree: which models to load, which to evict for them, and when. */
import { loadReason } from '../../../../contract/job-event.ts';
import { fail } from '../../../../lib/errors/svc-error.ts';
import { most } from '../../device-memory.ts';
import type { Memory } from '../../ports.ts';
import { type LoadPlan, mostChosenCtx, type Wish, whyTooLarge } from '../memory-plan.ts';
import { availableMemory, type Room, roomFor } from './room.ts';
import { type Residency, residencies, type ModelState, servesTicket, type Ticket } from './state.ts';
import type { DecisionPass } from './decision-pass.ts';

export interface Need {
  readonly model: ModelState;
  readonly head: Ticket;
}

/**
 * Step 1, oldest first. A loading or ending residency decides again when it is done, and so does the measurement of a
 * model with unknown memory: no model is evicted for a guess.
 */
export function findNeeds(pass: DecisionPass): Need[] {
  const needs: Need[] = [];
  for (const model of pass.state.models.values()) {
    const head = neediest(model);
    if (head !== undefined && !isBeingMeasured(pass, model)) needs.push({ model, head });
  }
  return needs.sort((a, b) => a.head.seq - b.head.seq);
}

/**
 * Step 2: per residency, the ticket number from which nothing starts there. The wait counts from the time that the
 * holder of the memory became ready: a new load always serves a group of jobs before it can be claimed.
 */
export function findClaims(pass: DecisionPass, needs: readonly Need[]): Map<number, number> {
  const claims = new Map<number, number>();
  for (const need of needs) {
    const room = findRoom(pass, need.model);
    if (room.kind !== 'busy') continue;
    const dueMs = claimDueMs(pass, need, room.victims);
    pass.wakeAt(dueMs);
    if (pass.nowMs < dueMs) continue;
    for (const { id } of room.victims)
      claims.set(id, Math.min(claims.get(id) ?? Number.POSITIVE_INFINITY, need.head.seq));
  }
  return claims;
}

/** Step 4. */
export function answerNeeds(pass: DecisionPass, needs: readonly Need[]): void {
  let barred = pass.state.draining;
  for (const need of needs) {
    const { model } = need;
    // An older need of this pass may just have evicted it.
    if (model.residency?.state === 'ending') continue;
    if (pass.nowMs < model.retryAtMs) {
      model.waitReason = `waiting to try the load of model ${model.modelId} again`; // 4a
      pass.wakeAt(model.retryAtMs);
      continue;
    }
    const room = findRoom(pass, model);
    model.waitReason = 'waiting for memory';
    switch (room.kind) {
      case 'never':
        refuse(pass, model, room); // 4f
        break;
      case 'busy':
        barred ||= pass.nowMs >= claimDueMs(pass, need, room.victims); // 4e
        break;
      case 'evict':
        if (!barred) for (const victim of room.victims) pass.unload(victim); // 4d
        // Memory being freed belongs to this need, and not to a younger one that arrives meanwhile.
        barred = true;
        break;
      case 'there':
        if (loadsUnderWay(pass) >= pass.limits.maxConcurrentLoads)
          model.waitReason = 'waiting for the load of another model'; // 4b
        else if (!barred) load(pass, model, room.plan); // 4c
    }
  }
}

export function findRoom(pass: DecisionPass, model: ModelState, wantedCtx = mostWantedCtx(model)): Room {
  const { state, limits } = pass;
  state.budget = residencies(state).length === 0 ? pass.free : most(pass.free, state.budget ?? []);
  const wish: Wish = {
    need: (size) => pass.readings.memoryNeed(model.target, size) ?? [],
    wantedCtx,
    mostCtx: mostChosenCtx(model.target),
    slots: limits.numParallel,
    below: model.below,
  };
  return roomFor(state, {
    model,
    wish,
    available: availableMemory(state, pass.free, limits.reserveBytes),
    maxLoadedModels: limits.maxLoadedModels,
  });
}

function isBeingMeasured(pass: DecisionPass, model: ModelState): boolean {
  const { target, modelId } = model;
  if (model.measured?.revision === target.revision) return model.measured.isOut;
  if (pass.readings.isMeasured(target)) return false;
  model.measured = { revision: target.revision, isOut: true };
  // To waiting jobs, the measurement is part of the load.
  model.waitReason = loadReason(modelId);
  pass.effects.measureModel(target);
  return true;
}

function neediest(model: ModelState): Ticket | undefined {
  const { residency, queue } = model;
  if (residency === null) return queue[0];
  if (residency.state !== 'ready') return undefined;
  return queue.find((ticket) => !servesTicket(residency, model.target, ticket));
}

function claimDueMs(pass: DecisionPass, { head }: Need, victims: readonly Residency[]): number {
  const sinceMs = Math.max(head.enqueuedAtMs, ...victims.map((victim) => victim.readyAtMs));
  return sinceMs + pass.limits.maxSwitchWaitMs;
}

function load(pass: DecisionPass, model: ModelState, plan: LoadPlan): void {
  const { state, limits, nowMs } = pass;
  const residency: Residency = {
    id: state.nextResidencyId,
    modelId: model.modelId,
    target: model.target,
    state: 'loading',
    facts: null,
    // A chosen window serves every later request for as much.
    wantedCtx: Math.max(mostWantedCtx(model), plan.numCtx),
    plan,
    memory: plan.memory,
    slots: plan.slots,
    running: new Map(),
    inLane: { shared: 0, frozen: 0, light: 0 },
    startedAtMs: nowMs,
    readyAtMs: Number.POSITIVE_INFINITY,
    lastUsedMs: nowMs,
    keepAliveMs: limits.keepAliveMs,
    expiresAtMs: null,
    retireFromSeq: Number.POSITIVE_INFINITY,
  };
  state.nextResidencyId += 1;
  model.residency = residency;
  pass.effects.loadModel({ residencyId: residency.id, target: model.target, plan });
}

/** Only jobs that wait for this load; jobs that the present residency can serve stay. */
function refuse(pass: DecisionPass, model: ModelState, { need, free }: { need: Memory; free: Memory }): void {
  // An infinite need is a failed estimate, which says nothing about the memory.
  const error = need.every(({ bytes }) => Number.isFinite(bytes))
    ? fail('out_of_memory', { model: model.modelId, reason: whyTooLarge(need, free) })
    : fail('internal');
  const { residency } = model;
  const refused = model.queue.filter(
    (ticket) => residency === null || !servesTicket(residency, model.target, ticket),
  );
  for (const ticket of refused) pass.reject(ticket, error);
}

function loadsUnderWay(pass: DecisionPass): number {
  return residencies(pass.state).filter((residency) => residency.state === 'loading').length;
}

/** One load serves all waiting jobs, so it is planned for their largest window. */
function mostWantedCtx(model: ModelState): number {
  return model.queue.reduce((most, ticket) => Math.max(most, ticket.wantedCtx), 0);
}
