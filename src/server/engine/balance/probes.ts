/**
 * Probes upstreams that requests do not cover: idle ones, those that are down, and the load of busy ones. A probe
 * never makes an upstream compute. One timer serves all, and none runs while nothing is due.
 */
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import type { Look, Upstream, UpstreamProbe } from '../upstream/ports.ts';
import type { BalanceLimits } from './limits.ts';
import { probeDueMs } from './policy/health.ts';
import type { UpstreamRecord } from './upstream-record.ts';

interface ProbesOptions {
  readonly probe: UpstreamProbe;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: BalanceLimits;
  readonly records: () => Iterable<UpstreamRecord>;
  readonly onLook?: () => void;
}

export class Probes {
  readonly #options: ProbesOptions;
  readonly #lookedMs = new WeakMap<UpstreamRecord, number>();
  readonly #underWay = new WeakSet<UpstreamRecord>();
  readonly #stop = new AbortController();
  #cancelTimer: (() => void) | undefined;

  constructor(options: ProbesOptions) {
    this.#options = options;
  }

  plan(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#stop.signal.aborted) return;
    const { clock, records } = this.#options;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const record of records()) dueMs = Math.min(dueMs, this.#dueMs(record));
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTimer = clock.after(Math.max(0, dueMs - clock.monotonicMs()), () => this.#onTimer());
  }

  close(): void {
    this.#stop.abort();
    this.#cancelTimer?.();
  }

  #onTimer(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const record of this.#options.records())
      if (record.upstream !== null && this.#dueMs(record) <= nowMs) void this.#look(record, record.upstream);
    this.plan();
  }

  #dueMs(record: UpstreamRecord): number {
    if (record.upstream === null || this.#underWay.has(record)) return Number.POSITIVE_INFINITY;
    const { limits } = this.#options;
    const lookedMs = this.#lookedMs.get(record) ?? Number.NEGATIVE_INFINITY;
    const loadDueMs = record.inFlight > 0 ? lookedMs + limits.loadProbeMs : Number.POSITIVE_INFINITY;
    const healthDueMs = probeDueMs(record.health, record.inFlight, limits);
    return Math.max(Math.min(healthDueMs, loadDueMs), lookedMs + limits.loadProbeMs);
  }

  async #look(record: UpstreamRecord, upstream: Upstream): Promise<void> {
    const { probe, clock, limits } = this.#options;
    this.#underWay.add(record);
    const look = await probe.look(upstream, this.#signal());
    if (this.#stop.signal.aborted) return;
    this.#take(record, look);
    if (look.state !== 'down' && clock.monotonicMs() - record.modelsReadMs >= limits.modelsMs)
      await this.#readModels(record, upstream);
    this.#underWay.delete(record);
    this.#lookedMs.set(record, clock.monotonicMs());
    this.plan();
    this.#options.onLook?.();
  }

  #take(record: UpstreamRecord, look: Look): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (look.state === 'down') {
      record.load = null;
      // Running requests are better evidence than an unanswered probe.
      if (record.inFlight === 0) record.apply({ type: 'lifeless' }, nowMs);
      return;
    }
    record.load = look.load;
    record.inFlightAtReport = record.inFlight;
    const isCrowded = (look.load.waiting ?? 0) > 0;
    if (look.state === 'busy' && !isCrowded) return record.apply({ type: 'starting' }, nowMs);
    record.apply({ type: 'alive' }, nowMs);
    record.apply({ type: 'load', isCrowded }, nowMs);
  }

  async #readModels(record: UpstreamRecord, upstream: Upstream): Promise<void> {
    const { probe, clock, log } = this.#options;
    try {
      const models = await probe.models(upstream, this.#signal());
      record.models = new Set(models.map(({ name }) => name));
    } catch (error) {
      log.debug({ upstream: upstream.name, error }, 'The models of an upstream could not be read.');
    }
    record.modelsReadMs = clock.monotonicMs();
  }

  #signal(): AbortSignal {
    return this.#stop.signal;
  }
}
