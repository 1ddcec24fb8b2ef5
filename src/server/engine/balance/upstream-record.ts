import type { FailureKind } from '../failure-kinds.ts';
import type { ModelTarget, ResidencyStatus, UpstreamStatus } from '../ports.ts';
import type { Privacy } from '../../../contract/settings/privacy.ts';
import { isRemote, type LoadFacts, targetPrivacy, type Upstream } from '../upstream/ports.ts';
import type { BalanceLimits } from './limits.ts';
import { type Health, applySignal, newHealth, type Signal, standing } from './policy/health.ts';

/** Name of this service's own engine among upstreams. It is reserved, so no upstream can have it. */
const THIS_SERVICE = 'local';

export class UpstreamRecord {
  readonly name: string;
  readonly privacy: Privacy;
  #maxCalls = Number.POSITIVE_INFINITY;
  #upstream: Upstream | null = null;
  load: LoadFacts | null = null;
  inFlightAtReport = 0;
  models: ReadonlySet<string> | null = null;
  modelsReadMs = Number.NEGATIVE_INFINITY;
  inFlight = 0;
  speaking = 0;
  requests = 0;
  usedMs: number;
  spills = 0;
  affinityHits = 0;
  failovers = 0;
  resumptions = 0;
  readonly failures = new Map<FailureKind, number>();
  readonly #limits: BalanceLimits;
  #health: Health;
  #firstTokenMs: number | null = null;

  constructor(target: ModelTarget, nowMs: number, limits: BalanceLimits) {
    this.name = upstreamName(target);
    this.privacy = targetPrivacy(target);
    this.follow(target);
    this.#limits = limits;
    this.usedMs = nowMs;
    this.#health = newHealth(nowMs);
  }

  get maxCalls(): number {
    return this.#maxCalls;
  }

  /** Null: an engine that this service runs or starts itself, which is not probed. */
  get upstream(): Upstream | null {
    return this.#upstream;
  }

  follow(target: ModelTarget): void {
    this.#upstream = isRemote(target) ? target.source.upstream : null;
    this.#maxCalls = this.#upstream?.maxCalls ?? Number.POSITIVE_INFINITY;
  }

  get health(): Health {
    return this.#health;
  }

  apply(signal: Signal, nowMs: number): void {
    this.#health = applySignal(this.#health, signal, nowMs, this.#limits);
    if (signal.type === 'failed') this.failures.set(signal.kind, (this.failures.get(signal.kind) ?? 0) + 1);
  }

  lists(target: ModelTarget): boolean {
    return this.models === null || !isRemote(target) || this.models.has(target.source.model.name);
  }

  isFor(target: ModelTarget): boolean {
    const upstream = isRemote(target) ? target.source.upstream : null;
    return upstream?.baseUrl === this.upstream?.baseUrl && upstream?.privacy === this.upstream?.privacy;
  }

  modelName(target: ModelTarget): string {
    return isRemote(target) ? target.source.model.name : target.modelId;
  }

  readLoad(residencies: readonly ResidencyStatus[], modelId: string): void {
    const status = residencies.find((residency) => residency.modelId === modelId);
    this.load =
      status === undefined
        ? null
        : {
            running: status.running,
            waiting: status.queued,
            capacity: status.facts?.slots ?? null,
            kvUse: null,
          };
    this.inFlightAtReport = this.inFlight;
  }

  standing(nowMs: number): ReturnType<typeof standing> {
    return standing(this.#health, nowMs);
  }

  send(nowMs: number): void {
    this.requests += 1;
    this.inFlight += 1;
    this.apply({ type: 'sent' }, nowMs);
  }

  learnFirstToken(ms: number): void {
    const before = this.#firstTokenMs ?? ms;
    this.#firstTokenMs = before + 0.2 * (ms - before);
  }

  status(nowMs: number): UpstreamStatus {
    const state = this.standing(nowMs);
    return {
      name: this.name,
      dialect: this.upstream?.dialect ?? null,
      privacy: this.privacy,
      state: state === 'trial' ? 'down' : state,
      why: state === 'ready' ? null : this.#health.why,
      untilMs: state === 'ready' ? null : this.#health.untilMs,
      inFlight: this.inFlight,
      load: this.load,
      firstTokenMs: this.#firstTokenMs,
      requests: this.requests,
      failures: Object.fromEntries(this.failures),
      spills: this.spills,
      affinityHits: this.affinityHits,
      failovers: this.failovers,
      resumptions: this.resumptions,
    };
  }
}

export const upstreamName = ({ place }: ModelTarget): string => place ?? THIS_SERVICE;
