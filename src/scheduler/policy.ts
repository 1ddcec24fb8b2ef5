/**
 * Decides what happens next. One writer, synchronous: each `on…` method takes one event into the state, then `#decide`
 * walks the whole tree below. It knows no promises, no sockets and no processes; loop.ts carries its effects out.
 *
 * The tree, in this order at every event:
 *   1. Needs: which models have a waiting job that no instance can take, oldest job first.
 *   2. Claims: a need that waited `maxSwitchWaitMs` on busy models closes them to jobs younger than its own.
 *   3. Starts: every free slot takes the next job in fair order (fairness.ts), below the claim on it.
 *   4. Loads, per need:  4a too early after a failure: wait.  4b too many loads at once: wait.
 *      4c room is there: load.  4d idle models make room: evict.  4e only busy ones could: wait.
 *      4f it can never fit: refuse.  An older need in 4d, or in 4e for too long, bars younger ones from 4c and 4d.
 *   5. Keep-alive: an idle model leaves when it was asked to, or when its time is over.
 *   6. Waiting jobs are told position and reason; one timer is set for the next moment that matters.
 */
import type { ModelTarget } from '../engine/backend.ts';
import type { LoadedFacts } from '../engine/load.ts';
import { fail, type SvcError } from '../errors/svc-error.ts';
import { queueFull, surplusTicket } from './admission.ts';
import type { Effects, Readings } from './effects.ts';
import { fairOrder, nextTicket, takeTurn } from './fairness.ts';
import {
  forgetCrash,
  forgetLoadFailures,
  isPoison,
  quarantineError,
  recordCrash,
  recordLoadFailure,
} from './faults.ts';
import type { SchedulerLimits } from './limits.ts';
import { measuredOf, plannedBytes, type Wish } from './memory-plan.ts';
import { availableBytes, isIdle, type Room, roomFor } from './room.ts';
import {
  type Instance,
  initialState,
  instances,
  type ModelState,
  modelState,
  type SchedulerState,
  serves,
  type Ticket,
} from './state.ts';

/** What a submission brings; `seq` ascends in the order of arrival. */
export type Arrival = Pick<
  Ticket,
  'seq' | 'flow' | 'lane' | 'cost' | 'wantedCtx' | 'keepAliveMs' | 'poisonKey'
> & { readonly target: ModelTarget };

export interface Crash {
  readonly error: SvcError;
  /** False when the worker was ended from outside, so that no job is to blame. */
  readonly blame: boolean;
  /** Whether the client has seen anything of the job. */
  readonly begun: boolean;
}

interface Need {
  readonly model: ModelState;
  readonly head: Ticket;
}

export class Policy {
  readonly state: SchedulerState = initialState();
  readonly #limits: SchedulerLimits;
  readonly #effects: Effects;
  readonly #readings: Readings;

  constructor(limits: SchedulerLimits, effects: Effects, readings: Readings) {
    this.#limits = limits;
    this.#effects = effects;
    this.#readings = readings;
  }

  onSubmit(arrival: Arrival): void {
    const nowMs = this.#readings.nowMs();
    const { target, seq } = arrival;
    this.state.lastSeq = seq;
    const model = modelState(this.state, target);
    const refusal = this.#refusal(model, arrival, nowMs);
    if (refusal !== null) return this.#effects.rejectJob(seq, refusal);
    model.target = target;
    const ticket: Ticket = {
      seq,
      modelId: target.modelId,
      flow: arrival.flow,
      lane: arrival.lane,
      cost: arrival.cost,
      wantedCtx: arrival.wantedCtx,
      keepAliveMs: arrival.keepAliveMs,
      poisonKey: arrival.poisonKey,
      enqueuedAtMs: nowMs,
      startedAtMs: nowMs,
      overtaken: 0,
      requeues: 0,
      told: null,
    };
    model.queue.push(ticket);
    this.#decide();
    if (!model.queue.includes(ticket)) return;
    const surplus = surplusTicket(this.state, this.#limits, ticket);
    if (surplus !== null) this.#reject(surplus, queueFull(this.state, this.#limits));
  }

  /** The client is gone. A running job is ended by its signal and reported as ended; a waiting one leaves at once. */
  onCancel(seq: number): void {
    for (const model of this.state.models.values()) {
      const index = model.queue.findIndex((ticket) => ticket.seq === seq);
      if (index >= 0) model.queue.splice(index, 1);
    }
    this.#decide();
  }

  onJobEnded(seq: number, succeeded: boolean): void {
    const ticket = this.#leave(seq);
    if (ticket !== null && succeeded) {
      forgetCrash(this.state, ticket.poisonKey);
      const tookMs = this.#readings.nowMs() - ticket.startedAtMs;
      this.state.meanJobMs += 0.2 * (tookMs - this.state.meanJobMs);
    }
    this.#decide();
  }

  onJobCrashed(seq: number, crash: Crash): void {
    const instance = this.state.running.get(seq)?.instance;
    const ticket = this.#leave(seq);
    if (ticket === null || instance === undefined) return;
    instance.state = 'ending';
    const nowMs = this.#readings.nowMs();
    const poisoned = crash.blame && recordCrash(this.state, ticket.poisonKey(), nowMs, this.#limits);
    if (poisoned) this.#effects.rejectJob(seq, fail('poison_request', {}, crash.error));
    else if (crash.begun || ticket.requeues >= this.#limits.maxRequeues || this.state.draining) {
      this.#effects.rejectJob(seq, crash.error);
    } else this.#requeue(ticket);
    this.#decide();
  }

  onLoaded(instanceId: number, facts: LoadedFacts): void {
    const instance = this.#instance(instanceId);
    if (instance === undefined || instance.state !== 'loading') return;
    const nowMs = this.#readings.nowMs();
    const measured = measuredOf(facts, instance.target);
    instance.state = 'ready';
    instance.facts = facts;
    instance.slots = Math.max(1, facts.sequences);
    instance.plannedBytes = plannedBytes(instance.target, measured, facts.numCtx, facts.sequences);
    instance.readyAtMs = nowMs;
    instance.lastUsedMs = nowMs;
    forgetLoadFailures(this.#modelOf(instance));
    this.#decide();
  }

  onLoadFailed(instanceId: number, error: SvcError): void {
    const instance = this.#instance(instanceId);
    if (instance === undefined) return;
    const model = this.#modelOf(instance);
    const evicted = instance.state === 'ending';
    model.instance = null;
    if (!evicted && !this.#retryWithMoreMemory(model, error)) {
      recordLoadFailure(model, error, this.#readings.nowMs(), this.#limits);
      this.#rejectAll(model, error);
    }
    this.#decide();
  }

  /** The worker is gone, whether it was asked to go or not. */
  onGone(instanceId: number): void {
    const instance = this.#instance(instanceId);
    if (instance === undefined) return;
    this.#modelOf(instance).instance = null;
    this.#decide();
  }

  /** Somebody asks for the memory back; false when the model is not loaded. Jobs that waited before still run. */
  onUnload(modelId: string): boolean {
    const instance = this.state.models.get(modelId)?.instance ?? null;
    if (instance === null) return false;
    instance.retireFromSeq = Math.min(instance.retireFromSeq, this.state.lastSeq + 1);
    this.#decide();
    return true;
  }

  onDrain(): void {
    this.state.draining = true;
    for (const model of this.state.models.values()) {
      this.#rejectAll(model, fail('draining'));
    }
    for (const instance of instances(this.state)) if (instance.state === 'loading') this.#unload(instance);
    this.#decide();
  }

  onTimer(): void {
    this.#decide();
  }

  /** Where the memory for a load of this model would come from now. */
  room(target: ModelTarget, wantedCtx: number): Room {
    const model = this.state.models.get(target.modelId) ?? modelState(initialState(), target);
    return this.#room(model, { ...this.#wish(model, wantedCtx), target });
  }

  #decide(): void {
    const nowMs = this.#readings.nowMs();
    let wakeMs = Number.POSITIVE_INFINITY;
    const wakeAt = (atMs: number): void => {
      if (atMs > nowMs) wakeMs = Math.min(wakeMs, atMs);
    };
    const needs = this.#needs(); // 1
    const claims = this.#claims(needs, nowMs, wakeAt); // 2
    this.#startAll(claims, nowMs); // 3
    this.#loadAll(needs, nowMs, wakeAt); // 4
    this.#keepAlive(nowMs, wakeAt); // 5
    this.#notify(nowMs, wakeAt); // 6
    if (Number.isFinite(wakeMs)) this.#effects.setTimer(wakeMs - nowMs);
    else this.#effects.cancelTimer();
  }

  // 1. An instance that is loading or ending will raise the question again when it is done.
  #needs(): Need[] {
    const needs: Need[] = [];
    for (const model of this.state.models.values()) {
      const { instance, queue } = model;
      const head =
        instance === null
          ? queue[0]
          : instance.state === 'ready'
            ? queue.find((ticket) => !serves(instance, model.target, ticket.wantedCtx))
            : undefined;
      if (head !== undefined) needs.push({ model, head });
    }
    return needs.sort((a, b) => a.head.seq - b.head.seq);
  }

  // 2. The wait counts from the moment that the holder was ready, so that a fresh load always serves a group of jobs.
  #claims(needs: readonly Need[], nowMs: number, wakeAt: (atMs: number) => void): Map<number, number> {
    const claims = new Map<number, number>();
    for (const need of needs) {
      const room = this.#roomOf(need);
      if (room.kind !== 'busy') continue;
      const dueMs = this.#claimDueMs(need, room.victims);
      wakeAt(dueMs);
      if (nowMs < dueMs) continue;
      for (const { id } of room.victims) {
        claims.set(id, Math.min(claims.get(id) ?? Number.POSITIVE_INFINITY, need.head.seq));
      }
    }
    return claims;
  }

  // 3.
  #startAll(claims: ReadonlyMap<number, number>, nowMs: number): void {
    for (const model of this.state.models.values()) {
      const { instance } = model;
      if (instance?.state !== 'ready') continue;
      const belowSeq = Math.min(instance.retireFromSeq, claims.get(instance.id) ?? Number.POSITIVE_INFINITY);
      for (const lane of ['shared', 'frozen'] as const) {
        while (model.queue.length > 0 && freeSlots(instance, lane) > 0) {
          const ticket = nextTicket(
            model,
            this.#limits.maxOvertakes,
            (waiting) =>
              waiting.lane === lane &&
              waiting.seq < belowSeq &&
              serves(instance, model.target, waiting.wantedCtx),
          );
          if (ticket === undefined) break;
          this.#start(model, instance, ticket, nowMs);
        }
      }
    }
  }

  // 4.
  #loadAll(needs: readonly Need[], nowMs: number, wakeAt: (atMs: number) => void): void {
    let barred = this.state.draining;
    for (const need of needs) {
      const { model } = need;
      // An older need of this very walk may just have evicted it.
      if (model.instance?.state === 'ending') continue;
      if (nowMs < model.retryAtMs) {
        model.waitReason = `waiting to try the load of model ${model.modelId} again`; // 4a
        wakeAt(model.retryAtMs);
        continue;
      }
      const loading = instances(this.state).filter((instance) => instance.state === 'loading').length;
      const room = this.#roomOf(need);
      model.waitReason = 'waiting for memory';
      if (room.kind === 'never') {
        this.#refuse(need, room); // 4f
      } else if (room.kind === 'busy') {
        const { instance } = model;
        if (instance !== null)
          model.waitReason = `waiting to reload model ${model.modelId} with a larger window`;
        barred ||= nowMs >= this.#claimDueMs(need, room.victims); // 4e
      } else if (room.kind === 'evict') {
        if (!barred) for (const victim of room.victims) this.#unload(victim); // 4d
        // What is being freed is meant for this need, and not for a younger one that asks in the meantime.
        barred = true;
      } else if (loading >= this.#limits.maxConcurrentLoads) {
        model.waitReason = 'waiting for the load of another model'; // 4b
      } else if (!barred) this.#load(model, room.plan, nowMs); // 4c
    }
  }

  // 5.
  #keepAlive(nowMs: number, wakeAt: (atMs: number) => void): void {
    for (const model of this.state.models.values()) {
      const { instance } = model;
      if (instance === null || instance.state === 'ending') continue;
      instance.expiresAtMs = null;
      const awaited = model.queue.some((ticket) => ticket.seq < instance.retireFromSeq);
      if (!isIdle(this.state, instance) || awaited) continue;
      if (Number.isFinite(instance.retireFromSeq)) this.#unload(instance);
      if (instance.state !== 'ready') continue;
      const expiresAtMs = instance.lastUsedMs + instance.keepAliveMs;
      if (expiresAtMs <= nowMs) this.#unload(instance);
      else if (Number.isFinite(expiresAtMs)) {
        instance.expiresAtMs = expiresAtMs;
        wakeAt(expiresAtMs);
      }
    }
  }

  // 6. A new reason is told at once, a new position at most every `notifyMs`: a long queue moves often.
  #notify(nowMs: number, wakeAt: (atMs: number) => void): void {
    const due = nowMs >= this.state.lastNotifyMs + this.#limits.notifyMs;
    let waiting = false;
    for (const model of this.state.models.values()) {
      if (model.queue.length === 0) continue;
      waiting = true;
      const reason = reasonOf(model);
      if (!due && model.queue.every((ticket) => ticket.told?.reason === reason)) continue;
      fairOrder(model, this.#limits.maxOvertakes).forEach((ticket, index) => {
        const position = index + 1;
        const { told } = ticket;
        if (told?.reason === reason && (!due || told.position === position)) return;
        ticket.told = { position, reason };
        this.#effects.notifyQueued(ticket.seq, position, reason);
      });
    }
    if (due && waiting) this.state.lastNotifyMs = nowMs;
    if (waiting) wakeAt(this.state.lastNotifyMs + this.#limits.notifyMs);
  }

  #refusal(model: ModelState, arrival: Arrival, nowMs: number): SvcError | null {
    if (this.state.draining) return fail('draining');
    const quarantined = quarantineError(model, nowMs);
    if (quarantined !== null) return quarantined;
    return isPoison(this.state, arrival.poisonKey, nowMs, this.#limits) ? fail('poison_request') : null;
  }

  #start(model: ModelState, instance: Instance, ticket: Ticket, nowMs: number): void {
    takeTurn(model, ticket);
    ticket.startedAtMs = nowMs;
    instance.running.set(ticket.seq, ticket);
    instance.lastUsedMs = nowMs;
    instance.expiresAtMs = null;
    this.state.running.set(ticket.seq, { ticket, instance });
    this.#effects.startJob(ticket.seq, instance.id);
  }

  #load(
    model: ModelState,
    plan: { numCtx: number; parallel: number; plannedBytes: number },
    nowMs: number,
  ): void {
    const instance: Instance = {
      id: this.state.nextInstanceId,
      modelId: model.modelId,
      target: model.target,
      state: 'loading',
      facts: null,
      wantedCtx: mostWantedCtx(model),
      plannedBytes: plan.plannedBytes,
      slots: plan.parallel,
      running: new Map(),
      readyAtMs: Number.POSITIVE_INFINITY,
      lastUsedMs: nowMs,
      keepAliveMs: this.#limits.keepAliveMs,
      expiresAtMs: null,
      retireFromSeq: Number.POSITIVE_INFINITY,
    };
    this.state.nextInstanceId += 1;
    model.instance = instance;
    this.#effects.loadModel({ instanceId: instance.id, target: model.target, plan });
  }

  #unload(instance: Instance): void {
    if (instance.state === 'ending') return;
    instance.state = 'ending';
    instance.expiresAtMs = null;
    this.#effects.unloadModel(instance.id);
  }

  #reject(ticket: Ticket, error: SvcError): void {
    const queue = this.#queueOf(ticket);
    queue.splice(queue.indexOf(ticket), 1);
    this.#effects.rejectJob(ticket.seq, error);
  }

  #rejectAll(model: ModelState, error: SvcError): void {
    for (const ticket of model.queue.splice(0)) this.#effects.rejectJob(ticket.seq, error);
  }

  /** Only what waits for this very load; jobs that the present instance can serve stay. */
  #refuse({ model }: Need, room: { readonly needBytes: number; readonly freeBytes: number }): void {
    const error = fail('out_of_memory', {
      model: model.modelId,
      needBytes: room.needBytes,
      freeBytes: Math.max(0, Math.floor(room.freeBytes)),
    });
    const { instance } = model;
    const refused = model.queue.filter(
      (ticket) => instance === null || !serves(instance, model.target, ticket.wantedCtx),
    );
    for (const ticket of refused) this.#reject(ticket, error);
  }

  /** Back to its place in the order of arrival; it keeps its number and its age. */
  #requeue(ticket: Ticket): void {
    ticket.requeues += 1;
    ticket.told = null;
    const queue = this.#queueOf(ticket);
    const index = queue.findIndex((waiting) => waiting.seq > ticket.seq);
    queue.splice(index < 0 ? queue.length : index, 0, ticket);
  }

  /** When the child itself runs out of memory, a second try is worth while only after something has made room. */
  #retryWithMoreMemory(model: ModelState, error: SvcError): boolean {
    if (error.code !== 'out_of_memory' || model.memoryRetried || this.state.draining) return false;
    const idle = instances(this.state).filter(
      (instance) => instance.state === 'ready' && isIdle(this.state, instance),
    );
    if (idle.length === 0) return false;
    model.memoryRetried = true;
    model.retryAtMs = this.#readings.nowMs() + this.#limits.loadBackoffMs;
    for (const instance of idle) this.#unload(instance);
    return true;
  }

  /** Takes a started ticket off its instance. */
  #leave(seq: number): Ticket | null {
    const entry = this.state.running.get(seq);
    if (entry === undefined) return null;
    const { ticket, instance } = entry;
    this.state.running.delete(seq);
    instance.running.delete(seq);
    instance.lastUsedMs = this.#readings.nowMs();
    instance.keepAliveMs = ticket.keepAliveMs ?? this.#limits.keepAliveMs;
    return ticket;
  }

  #claimDueMs({ head }: Need, victims: readonly Instance[]): number {
    const sinceMs = Math.max(head.enqueuedAtMs, ...victims.map((victim) => victim.readyAtMs));
    return sinceMs + this.#limits.maxSwitchWaitMs;
  }

  #roomOf({ model }: Need): Room {
    return this.#room(model, this.#wish(model, mostWantedCtx(model)));
  }

  #room(model: ModelState, wish: Wish): Room {
    const freeBytes = this.#readings.freeBytes();
    const empty = instances(this.state).length === 0;
    this.state.budgetBytes = empty ? freeBytes : Math.max(freeBytes, this.state.budgetBytes ?? 0);
    return roomFor(this.state, {
      model,
      wish,
      availableBytes: availableBytes(this.state, freeBytes, this.#limits.reserveBytes),
      maxLoadedModels: this.#limits.maxLoadedModels,
    });
  }

  #wish(model: ModelState, wantedCtx: number): Wish {
    const measured = this.#readings.recall(model.target);
    return { target: model.target, measured, wantedCtx, parallel: this.#limits.numParallel };
  }

  #instance(instanceId: number): Instance | undefined {
    return instances(this.state).find((instance) => instance.id === instanceId);
  }

  #queueOf(ticket: Ticket): Ticket[] {
    return this.state.models.get(ticket.modelId)?.queue ?? [];
  }

  #modelOf(instance: Instance): ModelState {
    return modelState(this.state, instance.target);
  }
}

/** The frozen lane has one place per worker beside the shared slots. */
function freeSlots(instance: Instance, lane: Ticket['lane']): number {
  let used = 0;
  for (const ticket of instance.running.values()) if (ticket.lane === lane) used += 1;
  return (lane === 'frozen' ? 1 : instance.slots) - used;
}

function mostWantedCtx(model: ModelState): number {
  return model.queue.reduce((most, ticket) => Math.max(most, ticket.wantedCtx), 0);
}

function reasonOf(model: ModelState): string {
  switch (model.instance?.state) {
    case 'ready':
      return `waiting for a slot of model ${model.modelId}`;
    case 'loading':
      return `loading model ${model.modelId}`;
    case 'ending':
      return `waiting for model ${model.modelId} to end before it is loaded again`;
    default:
      return model.waitReason;
  }
}
