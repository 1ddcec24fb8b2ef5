/**
 * server/engine/scheduler/policy owns every decision of the scheduler, as plain functions over plain state (state.ts). One
 * writer, synchronous: each `on…` method applies one event to the state, then `#decide` walks the whole tree. It
 * knows no promises, no clock and no backend; loop.ts performs its effects.
 */
import type { ModelTarget, QueueFull, ResidencyFacts } from '../../ports.ts';
import { fail, isFailure, type SvcError } from '../../../../lib/errors/svc-error.ts';
import { mayRelease, preemptBackground, releaseBackground, surplusHeld } from './background.ts';
import { drainingError, queueFull, surplusChat, surplusTicket } from './admission.ts';
import type { Effects, Readings } from './effects.ts';
import {
  forgetCrash,
  forgetLoadFailures,
  poisonError,
  quarantineError,
  recordCrash,
  recordLoadFailure,
} from './faults.ts';
import type { SchedulerLimits } from '../limits.ts';
import { isIdle, type Room } from './room.ts';
import { startJobs } from './fairness.ts';
import {
  initialState,
  insertByAge,
  type ModelState,
  modelState,
  residencies,
  type Residency,
  type Ticket,
} from './state.ts';
import { answerNeeds, findClaims, findNeeds, findRoom } from './switching.ts';
import { whyNoRoom } from '../memory-plan.ts';
import { reportWaiting } from './waiting-reports.ts';
import { DecisionPass } from './decision-pass.ts';

/** `seq` ascends in the order of arrival. */
type Arrival = Pick<
  Ticket,
  'seq' | 'flow' | 'lane' | 'cost' | 'wantedCtx' | 'keepAliveMs' | 'poisonKey' | 'grammarKey'
> & { readonly target: ModelTarget; readonly isBackground?: boolean };

interface FailedLoad {
  readonly residency: Residency;
  readonly error: SvcError;
}

interface Crash {
  readonly error: SvcError;
  readonly blame: boolean;
  readonly begun: boolean;
}

/**
 * The tree, in this order at every event:
 *   0. Background jobs join the queues if no other job waits or runs, and leave them if one does (background.ts).
 *   1. Needs: models with a waiting job that no residency can take, oldest job first; unknown memory is measured first.
 *   2. Claims: a need that waited `maxSwitchWaitMs` on busy models closes them to jobs younger than its own.
 *   3. Starts: every free slot takes the next job in fair order (fairness.ts), below the claim on it. Running
 *      background jobs yield to those that still wait.
 *   4. Loads, per need:  4a too early after a failure: wait.  4b too many loads at once: wait.
 *      4c enough room: load.  4d idle models hold the room: evict.  4e only busy ones hold it: wait.
 *      4f it can never fit: refuse.  An older need in 4d, or in 4e for too long, bars younger ones from 4c and 4d.
 *   5. Keep-alive: an idle model is unloaded on request or when its time is over.
 *   6. Waiting jobs receive position and reason; one timer is set for the next relevant moment.
 */
export class Policy {
  readonly state = initialState();
  readonly #limits: SchedulerLimits;
  readonly #effects: Effects;
  readonly #readings: Readings;

  constructor(limits: SchedulerLimits, effects: Effects, readings: Readings) {
    this.#limits = limits;
    this.#effects = effects;
    this.#readings = readings;
  }

  queueFull(flow: string): QueueFull | null {
    return this.state.draining ? null : surplusChat(this.state, this.#limits, flow);
  }

  onSubmit(arrival: Arrival): void {
    const pass = this.#pass();
    const { target, ...rest } = arrival;
    this.state.lastSeq = arrival.seq;
    const model = modelState(this.state, target);
    const refusal = this.#refusal(model, arrival, pass.nowMs);
    if (refusal !== null) return this.#effects.rejectJob(arrival.seq, refusal);
    model.target = target;
    const ticket: Ticket = {
      ...rest,
      isBackground: arrival.isBackground === true,
      isPreempted: false,
      modelId: target.modelId,
      enqueuedAtMs: pass.nowMs,
      startedAtMs: pass.nowMs,
      overtaken: 0,
      requeues: 0,
      notified: null,
    };
    if (ticket.isBackground) return this.#hold(pass, ticket);
    model.queue.push(ticket);
    this.#decide(pass);
    if (model.queue.at(-1) !== ticket) return;
    const surplus = surplusTicket(this.state, this.#limits, ticket);
    if (surplus === null) return;
    pass.reject(surplus, fail('queue_full', queueFull(this.state, this.#limits)));
    if (mayRelease(this.state)) this.#decide(pass);
  }

  #hold(pass: DecisionPass, ticket: Ticket): void {
    this.state.held.push(ticket);
    const surplus = surplusHeld(this.state, this.#limits.maxHeld);
    if (surplus !== null) {
      this.state.held.pop();
      this.#effects.rejectJob(ticket.seq, surplus);
    }
    this.#decide(pass);
  }

  /** A running job is ended by its signal and reported as ended; a waiting one is removed at once. */
  onCancel(seq: number): void {
    const queues = [...this.state.models.values()].map(({ queue }) => queue);
    for (const queue of [this.state.held, ...queues]) {
      const index = queue.findIndex((ticket) => ticket.seq === seq);
      if (index >= 0) queue.splice(index, 1);
    }
    this.#decide(this.#pass());
  }

  onJobEnded(seq: number, succeeded: boolean): void {
    const pass = this.#pass();
    const residency = this.state.running.get(seq)?.residency;
    const ticket = this.#leave(seq, pass.nowMs);
    if (ticket !== null && residency !== undefined && succeeded) {
      forgetCrash(this.state, ticket);
      if (ticket.lane !== 'light')
        this.state.meanJobMs += 0.2 * (pass.nowMs - ticket.startedAtMs - this.state.meanJobMs);
    }
    this.#decide(pass);
  }

  onJobCrashed(seq: number, crash: Crash): void {
    const pass = this.#pass();
    const residency = this.state.running.get(seq)?.residency;
    const ticket = this.#leave(seq, pass.nowMs);
    if (ticket === null || residency === undefined) return;
    // Its other jobs are about to fail too; its memory counts until the worker has exited.
    residency.state = 'ending';
    const poison = crash.blame ? this.#blame(ticket, crash, pass.nowMs) : null;
    const final = crash.begun || ticket.requeues >= this.#limits.maxRequeues || this.state.draining;
    if (poison !== null) this.#effects.rejectJob(seq, fail('poison_request', poison.detail, crash.error));
    else if (final) this.#effects.rejectJob(seq, crash.error);
    else requeue(pass.findQueue(ticket), ticket);
    this.#decide(pass);
  }

  onLoaded(residencyId: number, facts: ResidencyFacts): void {
    const residency = this.#residency(residencyId);
    if (residency?.state !== 'loading') return;
    const pass = this.#pass();
    residency.state = 'ready';
    residency.facts = facts;
    residency.slots = Math.max(1, facts.slots);
    residency.memory = facts.memory;
    residency.readyAtMs = pass.nowMs;
    residency.lastUsedMs = pass.nowMs;
    forgetLoadFailures(modelState(this.state, residency.target));
    this.#decide(pass);
  }

  onLoadFailed(residencyId: number, error: SvcError): void {
    const residency = this.#residency(residencyId);
    if (residency === undefined) return;
    const pass = this.#pass();
    const model = modelState(this.state, residency.target);
    model.residency = null;
    model.measured = null;
    if (residency.state !== 'ending' && !this.#retryForMemory(pass, model, { residency, error })) {
      recordLoadFailure(model, error, pass.nowMs, this.#limits);
      pass.rejectAll(model, withNeed(error, residency, pass));
    }
    this.#decide(pass);
  }

  onGone(residencyId: number): void {
    const residency = this.#residency(residencyId);
    if (residency === undefined) return;
    modelState(this.state, residency.target).residency = null;
    this.#decide(this.#pass());
  }

  /** False if the model is not loaded. Jobs that waited before still run. */
  onUnload(modelId: string): boolean {
    const residency = this.state.models.get(modelId)?.residency ?? null;
    if (residency === null) return false;
    residency.retireFromSeq = Math.min(residency.retireFromSeq, this.state.lastSeq + 1);
    this.#decide(this.#pass());
    return true;
  }

  onDrain(graceMs: number): void {
    const pass = this.#pass();
    this.state.draining = true;
    this.state.drainUntilMs = pass.nowMs + graceMs;
    const refusal = drainingError(this.state, pass.nowMs);
    for (const { seq } of this.state.held.splice(0)) this.#effects.rejectJob(seq, refusal);
    for (const model of this.state.models.values()) {
      pass.rejectAll(model, refusal);
      if (model.residency?.state === 'loading') pass.unload(model.residency);
    }
    this.#decide(pass);
  }

  onMeasured({ modelId, revision }: ModelTarget): void {
    const measured = this.state.models.get(modelId)?.measured;
    if (measured?.revision === revision) measured.isOut = false;
    this.#decide(this.#pass());
  }

  onTimer(): void {
    this.#decide(this.#pass());
  }

  room(target: ModelTarget, wantedCtx: number): Room {
    const known = this.state.models.get(target.modelId) ?? modelState(initialState(), target);
    return findRoom(this.#pass(), { ...known, target }, wantedCtx);
  }

  #pass(): DecisionPass {
    return new DecisionPass(this.state, this.#limits, this.#effects, this.#readings);
  }

  #decide(pass: DecisionPass): void {
    releaseBackground(pass); // 0
    const needs = findNeeds(pass); // 1
    const claims = findClaims(pass, needs); // 2
    startJobs(pass, claims); // 3
    preemptBackground(pass, needs); // 3
    answerNeeds(pass, needs); // 4
    expireIdle(pass); // 5
    reportWaiting(pass); // 6
    if (pass.takeRejected() && mayRelease(this.state)) return this.#decide(pass);
    pass.end();
  }

  #refusal(model: ModelState, arrival: Arrival, nowMs: number): SvcError | null {
    if (this.state.draining) return drainingError(this.state, nowMs);
    const quarantined = quarantineError(model, nowMs);
    if (quarantined !== null) return quarantined;
    return poisonError(this.state, arrival, nowMs, this.#limits);
  }

  #blame(ticket: Ticket, { error }: Crash, nowMs: number): SvcError<'poison_request'> | null {
    recordCrash(this.state, ticket.poisonKey(), nowMs, this.#limits);
    // Only endless steps count against a grammar: a crash has many causes, and other jobs share it.
    const grammar = error.code === 'worker_hung' ? ticket.grammarKey() : null;
    if (grammar !== null) recordCrash(this.state, grammar, nowMs, this.#limits);
    return poisonError(this.state, ticket, nowMs, this.#limits);
  }

  /** When the child itself runs out of memory, a second try needs more room or must be smaller. */
  #retryForMemory(pass: DecisionPass, model: ModelState, { residency, error }: FailedLoad): boolean {
    if (error.code !== 'out_of_memory' || model.memoryRetried || this.state.draining) return false;
    const all = residencies(this.state);
    const idle = all.filter((other) => other.state === 'ready' && isIdle(this.state, other));
    if (idle.length === 0) {
      if (model.queue.length === 0) return false;
      model.below = residency.plan;
      if (findRoom(pass, model).kind === 'never') return false;
    }
    model.memoryRetried = true;
    model.retryAtMs = pass.nowMs + this.#limits.loadBackoffMs;
    for (const other of idle) pass.unload(other);
    return true;
  }

  #leave(seq: number, nowMs: number): Ticket | null {
    const entry = this.state.running.get(seq);
    if (entry === undefined) return null;
    const { ticket, residency } = entry;
    this.state.running.delete(seq);
    residency.running.delete(seq);
    residency.inLane[ticket.lane] -= 1;
    residency.lastUsedMs = nowMs;
    // A light job without a keep-alive keeps the one of the last answer.
    if (ticket.lane !== 'light' || ticket.keepAliveMs !== null)
      residency.keepAliveMs = ticket.keepAliveMs ?? this.#limits.keepAliveMs;
    return ticket;
  }

  #residency(residencyId: number): Residency | undefined {
    return residencies(this.state).find((residency) => residency.id === residencyId);
  }
}

/** The native library does not report how much memory was missing. */
function withNeed(error: SvcError, { plan }: Residency, pass: DecisionPass): SvcError {
  if (!isFailure(error, 'out_of_memory')) return error;
  const { model, reason } = error.detail;
  return fail('out_of_memory', { model, reason: whyNoRoom(reason, plan.memory, pass.free) }, error);
}

function requeue(queue: Ticket[], ticket: Ticket): void {
  ticket.requeues += 1;
  ticket.notified = null;
  insertByAge(queue, ticket);
}

function expireIdle(pass: DecisionPass): void {
  for (const { residency } of pass.state.models.values()) {
    if (residency === null || residency.state === 'ending') continue;
    residency.expiresAtMs = null;
    if (!isIdle(pass.state, residency)) continue;
    if (Number.isFinite(residency.retireFromSeq)) pass.unload(residency);
    if (residency.state !== 'ready') continue;
    const expiresAtMs = residency.lastUsedMs + residency.keepAliveMs;
    if (expiresAtMs <= pass.nowMs) {
      pass.unload(residency);
    } else if (Number.isFinite(expiresAtMs)) {
      residency.expiresAtMs = expiresAtMs;
      pass.wakeAt(expiresAtMs);
    }
  }
}
