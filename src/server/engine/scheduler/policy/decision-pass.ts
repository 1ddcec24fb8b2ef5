import type { Memory } from '../../ports.ts';
import type { SvcError } from '../../../../lib/errors/svc-error.ts';
import type { Effects, Readings } from './effects.ts';
import type { SchedulerLimits } from '../limits.ts';
import type { Residency, ModelState, SchedulerState, Ticket } from './state.ts';

export class DecisionPass {
  readonly state: SchedulerState;
  readonly limits: SchedulerLimits;
  readonly effects: Effects;
  readonly readings: Readings;
  readonly nowMs: number;
  #free: Memory | undefined;
  #wakeMs = Number.POSITIVE_INFINITY;
  #hasRejected = false;

  constructor(state: SchedulerState, limits: SchedulerLimits, effects: Effects, readings: Readings) {
    this.state = state;
    this.limits = limits;
    this.effects = effects;
    this.readings = readings;
    this.nowMs = readings.nowMs();
  }

  /** Read lazily, once per pass. */
  get free(): Memory {
    this.#free ??= this.readings.freeMemory();
    return this.#free;
  }

  wakeAt(atMs: number): void {
    if (atMs > this.nowMs) this.#wakeMs = Math.min(this.#wakeMs, atMs);
  }

  end(): void {
    if (Number.isFinite(this.#wakeMs)) this.effects.setTimer(this.#wakeMs - this.nowMs);
    else this.effects.cancelTimer();
  }

  takeRejected(): boolean {
    const had = this.#hasRejected;
    this.#hasRejected = false;
    return had;
  }

  reject(ticket: Ticket, error: SvcError): void {
    this.#hasRejected = true;
    const queue = this.findQueue(ticket);
    queue.splice(queue.indexOf(ticket), 1);
    this.effects.rejectJob(ticket.seq, error);
  }

  rejectAll(model: ModelState, error: SvcError): void {
    for (const ticket of model.queue.splice(0)) this.effects.rejectJob(ticket.seq, error);
  }

  unload(residency: Residency): void {
    if (residency.state === 'ending') return;
    residency.state = 'ending';
    residency.expiresAtMs = null;
    this.effects.unloadModel(residency.id);
  }

  findQueue(ticket: Ticket): Ticket[] {
    return this.state.models.get(ticket.modelId)?.queue ?? [];
  }
}
