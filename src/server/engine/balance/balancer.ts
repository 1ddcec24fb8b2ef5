import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import type { Engine, JobListener, LoadForecast, ModelTarget, Submission, UpstreamStatus } from '../ports.ts';
import type { EngineStage } from '../stages.ts';
import { isPool, isRemote, type UpstreamProbe } from '../upstream/ports.ts';
import { BalancedJob } from './balanced-job.ts';
import { type BalanceLimits, DEFAULT_BALANCE_LIMITS } from './limits.ts';
import { type Member, Pool } from './pool.ts';
import type { Signal } from './policy/health.ts';
import { Probes } from './probes.ts';
import { upstreamName, UpstreamRecord } from './upstream-record.ts';

interface BalancerOptions {
  readonly residencies: Engine['residencies'];
  readonly probe: UpstreamProbe;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly limits?: Partial<BalanceLimits>;
  readonly onFirstToken?: (upstream: string, ms: number) => void;
  readonly onChange?: () => void;
}

export class Balancer implements EngineStage {
  readonly #options: BalancerOptions;
  readonly #limits: BalanceLimits;
  readonly #records = new Map<string, UpstreamRecord>();
  readonly #pools = new Map<string, Pool>();
  readonly #probes: Probes;

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_BALANCE_LIMITS, ...options.limits };
    this.#probes = new Probes({
      probe: options.probe,
      clock: options.clock,
      log: options.log,
      limits: this.#limits,
      records: () => this.#recordsInUse(),
      onLook: () => options.onChange?.(),
    });
  }

  take(submission: Submission, signal: AbortSignal, listener: JobListener, submit: Engine['submit']): void {
    const { target } = submission;
    const { clock, log, onFirstToken } = this.#options;
    if (!isPool(target) && !isRemote(target)) return submit(submission, signal, listener);
    const job = new BalancedJob(
      {
        submit,
        clock,
        log,
        limits: this.#limits,
        pool: this.#findPool(target),
        members: poolMembers(target).map((member) => this.#findMember(member)),
        areEqual: (one, other) => areEqual(target, one, other),
        tell: (member, event) => this.#tell(member, event),
        onFirstToken: ({ record }, ms) => {
          record.learnFirstToken(ms);
          onFirstToken?.(record.name, ms);
        },
      },
      submission,
      signal,
      listener,
    );
    job.start();
    this.#probes.plan();
  }

  upstreams(): readonly UpstreamStatus[] {
    const nowMs = this.#options.clock.monotonicMs();
    return this.#recordsInUse().map((record) => record.status(nowMs));
  }

  plan(target: ModelTarget, numCtx: number | null, next: Engine['plan']): LoadForecast {
    const plans = poolMembers(target).map((member) => next(member, numCtx));
    return plans.reduce((one, other) => (other.slots > one.slots ? other : one));
  }

  close(): void {
    this.#probes.close();
  }

  /** Drops records unused for a long time: such an upstream may no longer be configured. */
  #recordsInUse(): UpstreamRecord[] {
    const oldest = this.#options.clock.monotonicMs() - this.#limits.forgetMs;
    for (const [name, { usedMs, inFlight }] of this.#records)
      if (usedMs < oldest && inFlight === 0) this.#records.delete(name);
    return [...this.#records.values()];
  }

  #tell(member: Member, signal: Signal): void {
    const { record } = member;
    const before = record.health.state;
    record.apply(signal, this.#options.clock.monotonicMs());
    // A returning upstream may have restarted and lost its prompts.
    if (before !== 'down' && record.health.state === 'down')
      for (const pool of this.#pools.values()) pool.forget(member.target.modelId);
    if (record.health.state === before && signal.type !== 'failed') return;
    this.#probes.plan();
    this.#options.onChange?.();
  }

  #findMember(target: ModelTarget): Member {
    const { clock } = this.#options;
    const name = upstreamName(target);
    const known = this.#records.get(name);
    if (known?.isFor(target)) {
      known.follow(target);
      known.usedMs = clock.monotonicMs();
      if (known.upstream === null) known.readLoad(this.#options.residencies(), target.modelId);
      return { target, record: known };
    }
    const record = new UpstreamRecord(target, clock.monotonicMs(), this.#limits);
    this.#records.set(name, record);
    return { target, record };
  }

  #findPool({ modelId }: ModelTarget): Pool {
    const known = this.#pools.get(modelId);
    if (known !== undefined) return known;
    const pool = new Pool(this.#limits, this.#options.random);
    this.#pools.set(modelId, pool);
    return pool;
  }
}

function poolMembers(target: ModelTarget): readonly ModelTarget[] {
  return isPool(target) ? target.source.members : [target];
}

/** Equal by the digest of their weights or by the user's configuration. */
function areEqual(target: ModelTarget, one: ModelTarget, other: ModelTarget): boolean {
  if (isPool(target) && target.source.equalWeights) return true;
  if (!isRemote(one) || !isRemote(other)) return false;
  const { digest } = one.source.model;
  return digest !== null && digest === other.source.model.digest;
}
