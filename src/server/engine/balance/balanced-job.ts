/**
 * One job on its way through upstreams. Its client receives one seamless answer, with nothing repeated or missing, or
 * a failure that names the upstream.
 */
import {
  type DoneEvent,
  FINAL_EVENTS,
  type JobEvent,
  type StartedEvent,
} from '../../../contract/job-event.ts';
import type { Job } from '../../../contract/job.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import { fail, isSvcError, type SvcError } from '../../../lib/errors/svc-error.ts';
import type { Engine, JobListener, ModelTarget, Submission } from '../ports.ts';
import { nearer, type Privacy } from '../../../contract/settings/privacy.ts';
import { classifyFailure, readRetryAfterMs } from './failures.ts';
import type { BalanceLimits } from './limits.ts';
import type { Member, Pool } from './pool.ts';
import type { NoChoice } from './policy/choose.ts';
import { nextStep } from './policy/failover.ts';
import type { FailureKind } from '../failure-kinds.ts';
import type { Signal } from './policy/health.ts';
import { Transcript } from './policy/transcript.ts';

interface BalancedJobPorts {
  readonly submit: Engine['submit'];
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: BalanceLimits;
  readonly pool: Pool;
  readonly members: readonly Member[];
  readonly areEqual: (one: ModelTarget, other: ModelTarget) => boolean;
  readonly tell: (member: Member, signal: Signal) => void;
  readonly onFirstToken: (member: Member, ms: number) => void;
}

interface Attempt {
  readonly member: Member;
  readonly sentMs: number;
  readonly isResumed: boolean;
  /** Held back until the upstream sends something, so that another upstream can still start over. */
  start: StartedEvent | null;
  hasSpoken: boolean;
  isDone: boolean;
}

interface Failed {
  readonly member: Member;
  readonly kind: FailureKind;
}

export class BalancedJob {
  readonly #ports: BalancedJobPorts;
  readonly #submission: Submission;
  readonly #signal: AbortSignal;
  readonly #listener: JobListener;
  readonly #transcript: Transcript;
  readonly #failed: Failed[] = [];
  readonly #deadlineMs: number;
  #wasResumed = false;
  #resumedAfter = 0;

  constructor(ports: BalancedJobPorts, submission: Submission, signal: AbortSignal, listener: JobListener) {
    this.#ports = ports;
    this.#submission = submission;
    this.#signal = signal;
    this.#listener = listener;
    this.#transcript = new Transcript(submission.job);
    this.#deadlineMs = ports.clock.monotonicMs() + (submission.route?.patienceMs ?? Number.POSITIVE_INFINITY);
  }

  start(): void {
    const chosen = this.#choose(this.#ports.members);
    if ('none' in chosen) return queueMicrotask(() => this.#listener.onEnd(this.#refusal(chosen)));
    this.#send(chosen, false);
  }

  #choose(members: readonly Member[]): Member | NoChoice {
    const { pool, clock } = this.#ports;
    const { job, route } = this.#submission;
    const failed = new Set(this.#failed.map(({ member }) => member.target.modelId));
    return pool.choose(members, {
      job,
      route,
      farthest: this.#farthest,
      failed,
      nowMs: clock.monotonicMs(),
    });
  }

  get #farthest(): Privacy {
    const { route, target } = this.#submission;
    return nearer(target.farthest ?? 'remote', route?.isLocalOnly === true ? 'local' : 'remote');
  }

  #send(member: Member, isResumed: boolean): void {
    const { submit, clock } = this.#ports;
    const attempt: Attempt = {
      member,
      sentMs: clock.monotonicMs(),
      isResumed,
      start: null,
      hasSpoken: false,
      isDone: false,
    };
    member.record.send(clock.monotonicMs());
    this.#notifySent(member, isResumed);
    const { room } = this.#listener;
    submit({ ...this.#submission, job: this.#jobFor(isResumed), target: member.target }, this.#signal, {
      onEvent: (event) => this.#onEvent(attempt, event),
      onEnd: (failure) => this.#onEnd(attempt, failure),
      ...(room === undefined ? {} : { room: () => this.#listener.room?.() }),
    });
  }

  #notifySent({ record: { name } }: Member, isResumed: boolean): void {
    const before = isResumed ? this.#failed.at(-1) : this.#failed[0];
    const instead =
      before === undefined ? {} : { insteadOf: before.member.record.name, because: before.kind };
    this.#submission.route?.onSent?.({ name, ...instead, isResumed });
  }

  #jobFor(isResumed: boolean): Job {
    const { job } = this.#submission;
    const again = this.#failed.length === 0 ? job : { ...job, jobId: `${job.jobId}.${this.#failed.length}` };
    return isResumed && again.kind === 'generate' ? this.#transcript.remainingJob(again) : again;
  }

  #onEvent(attempt: Attempt, event: JobEvent): void {
    if (event.type === 'queued') {
      if (!this.#transcript.hasBegun) this.#listener.onEvent(event);
      return;
    }
    if (event.type === 'started') {
      // A resumed answer has already started. With a single upstream there is no alternative to wait for.
      if (!attempt.isResumed) attempt.start = event;
      if (this.#ports.members.length === 1) this.#passStart(attempt);
      return;
    }
    if (!attempt.hasSpoken) this.#onFirstWord(attempt);
    this.#passStart(attempt);
    this.#transcript.add(event);
    attempt.isDone = FINAL_EVENTS.has(event.type);
    this.#listener.onEvent(event.type === 'done' ? this.#whole(attempt, event) : event);
  }

  #onFirstWord(attempt: Attempt): void {
    const { tell, onFirstToken, clock } = this.#ports;
    attempt.hasSpoken = true;
    attempt.member.record.speaking += 1;
    tell(attempt.member, { type: 'begun' });
    if (!attempt.isResumed) onFirstToken(attempt.member, clock.monotonicMs() - attempt.sentMs);
  }

  #passStart(attempt: Attempt): void {
    const { start } = attempt;
    if (start === null) return;
    attempt.start = null;
    this.#transcript.add(start);
    this.#listener.onEvent(start);
  }

  #whole(attempt: Attempt, done: DoneEvent): DoneEvent {
    const from = this.#failed.at(-1);
    if (!attempt.isResumed || from === undefined) return done;
    const resumed = {
      from: from.member.record.name,
      on: attempt.member.record.name,
      because: from.kind,
      afterCharacters: this.#resumedAfter,
    };
    return { ...this.#transcript.whole(done), resumed };
  }

  #onEnd(attempt: Attempt, failure: Error | null): void {
    const { member, isDone } = attempt;
    const { tell } = this.#ports;
    member.record.inFlight -= 1;
    if (attempt.hasSpoken) member.record.speaking -= 1;
    if (failure === null && isDone) {
      tell(member, { type: 'completed' });
      return this.#listener.onEnd(null);
    }
    const error = this.#toError(member, failure);
    if (error.code === 'cancelled' || error.code === 'draining') {
      tell(member, { type: 'abandoned' });
      return this.#listener.onEnd(error);
    }
    const kind = classifyFailure(error);
    tell(member, {
      type: 'failed',
      kind,
      retryAfterMs: readRetryAfterMs(error),
      speaking: member.record.speaking,
    });
    this.#failed.push({ member, kind });
    if (isDone) return this.#listener.onEnd(error);
    this.#goOn(member, kind, error);
  }

  #goOn(member: Member, kind: FailureKind, error: SvcError): void {
    const { clock, limits, log } = this.#ports;
    const { route, target, requestId } = this.#submission;
    const next = nextStep(
      kind,
      {
        hasBegun: this.#transcript.hasBegun,
        wasRetried: this.#failed.length > 1,
        wasResumed: this.#wasResumed,
        mayResume: route?.mayResume === true,
        obstacle: this.#transcript.obstacle,
        deadlineMs: this.#deadlineMs,
      },
      { nowMs: clock.monotonicMs(), limits },
    );
    const facts = { model: target.modelId, requestId, upstream: member.record.name, kind };
    if (next.step === 'fail') return this.#giveUp(error, next.why);
    const isResume = next.step === 'resume';
    const chosen = this.#choose(isResume ? this.#equalMembers(member) : this.#ports.members);
    if ('none' in chosen) return this.#giveUp(error, isResume ? 'no other upstream can continue it' : null);
    log.info(
      { ...facts, next: chosen.record.name, step: next.step },
      'A request goes on at another upstream.',
    );
    if (isResume) this.#resume(member);
    else member.record.failovers += 1;
    this.#send(chosen, isResume);
  }

  #resume(member: Member): void {
    member.record.resumptions += 1;
    this.#wasResumed = true;
    this.#resumedAfter = this.#transcript.length;
    this.#transcript.resume();
  }

  #giveUp(error: SvcError, why: string | null): void {
    const isAsked = this.#submission.route?.mayResume === true && this.#transcript.hasBegun;
    if (why === null || !isAsked) return this.#listener.onEnd(error);
    this.#listener.onEnd(fail('answer_not_resumed', { reason: error.message, why }, error));
  }

  #equalMembers({ target }: Member): readonly Member[] {
    const { job } = this.#submission;
    // Every upstream can continue a plain text: the prompt just gets longer.
    const isText = job.kind === 'generate' && job.prompt.kind === 'text';
    return this.#ports.members.filter(
      (other) =>
        (isText || other.target.capabilities.canContinue === true) &&
        this.#ports.areEqual(target, other.target),
    );
  }

  #toError({ record }: Member, failure: Error | null): SvcError {
    if (failure === null) {
      const reason = 'it ended before it was complete';
      return fail('upstream_broken', { upstream: record.name, what: 'cut', reason });
    }
    return isSvcError(failure) ? failure : fail('internal', {}, failure);
  }

  #refusal({ none }: NoChoice): SvcError {
    const { members, clock } = this.#ports;
    const { target } = this.#submission;
    const model = target.modelId;
    if (none === 'private')
      return fail('upstreams_private', { model, farthest: this.#farthest, param: 'model' });
    const [first] = members;
    if (none === 'model_gone' && first !== undefined) {
      const upstream = members.map(({ record }) => record.name).join(', ');
      return fail('upstream_model_gone', {
        upstream,
        model: first.record.modelName(first.target),
        param: 'model',
      });
    }
    const nowMs = clock.monotonicMs();
    const waitMs = Math.min(...members.map(({ record }) => record.health.untilMs - nowMs));
    const states = members.map(({ record }) => `${record.name}: ${record.health.why ?? 'in use'}`);
    return fail('upstreams_down', {
      model,
      states: [...new Set(states)].join(', '),
      retryAfterS: Math.max(1, Math.ceil(waitMs / 1_000)),
    });
  }
}
