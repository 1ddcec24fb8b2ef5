/**
 * server/engine/scheduler owns admission, queues, memory and residencies: it is the server's Engine. It knows no files,
 * processes or sockets, only the ports Backend and Clock. This file holds promises and listeners; policy/ makes every
 * decision. An abandoned load continues and the model stays for its keep-alive; if others need its memory, the load
 * is aborted.
 */
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import {
  type Backend,
  type Engine,
  type EngineObserver,
  type JobListener,
  type LoadedModel,
  type LoadForecast,
  type LoadSize,
  type Memory,
  type ModelTarget,
  type QueueFull,
  type ResidencyStatus,
  type Submission,
  UNKNOWN_WINDOW,
} from '../ports.ts';
import { takesNoSlot, type Job } from '../../../contract/job.ts';
import { HOST_DEVICE } from '../../../contract/memory.ts';
import type { SlotStates } from '../../../contract/slots.ts';
import { fail, isSvcError, type SvcError } from '../../../lib/errors/svc-error.ts';
import type { Effects, LoadOrder } from './policy/effects.ts';
import { type OpenRequest, OpenRequests, notifyEnd } from './open-requests.ts';
import { grammarKey, poisonKey } from './policy/faults.ts';
import { DEFAULT_SCHEDULER_LIMITS, type SchedulerLimits } from './limits.ts';
import { USUAL_SLOTS, wantedCtx } from './memory-plan.ts';
import { Policy } from './policy/policy.ts';
import { evictionOrder } from './policy/room.ts';
import { type Lane, residencies, serves } from './policy/state.ts';

export interface EngineOptions {
  readonly backends: Readonly<Record<string, Backend>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly freeMemory: () => Memory;
  readonly limits?: Partial<SchedulerLimits>;
  readonly observers?: readonly EngineObserver[];
}

const CHAT_FLOW = 'chat';

interface Load {
  readonly order: LoadOrder;
  readonly abort: AbortController;
  model: LoadedModel | null;
}

export function createEngine(options: EngineOptions): Engine {
  return new SchedulerLoop(options);
}

class SchedulerLoop implements Engine, Effects {
  readonly #options: EngineOptions;
  readonly #limits: SchedulerLimits;
  readonly #policy: Policy;
  readonly #requests = new OpenRequests();
  readonly #loads = new Map<number, Load>();
  readonly #goneWaiters = new Map<number, (() => void)[]>();
  #lastSeq = 0;
  #cancelTimer: (() => void) | undefined;
  #onSlots: ((modelId: string, slots: SlotStates) => void) | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
    // Copies descriptors, so that getters remain: some limits follow settings that change at run time.
    const given = Object.getOwnPropertyDescriptors(options.limits ?? {});
    this.#limits = Object.defineProperties({ ...DEFAULT_SCHEDULER_LIMITS }, given);
    this.#policy = new Policy(this.#limits, this, {
      nowMs: () => options.clock.monotonicMs(),
      freeMemory: options.freeMemory,
      isMeasured: (target) => this.#isMeasured(target),
      memoryNeed: (target, size) => this.#memoryNeed(target, size),
    });
  }

  submit(submission: Submission, signal: AbortSignal, listener: JobListener): void {
    const observers = this.#options.observers ?? [];
    const { target, job, requestId } = submission;
    const watched = {
      jobId: job.jobId,
      kind: job.kind,
      modelId: target.modelId,
      clientName: submission.clientName ?? '',
      place: target.place,
      isFrozen: jobLane(job) === 'frozen',
    };
    const listeners = [...observers.map((observer) => observer.watchJob(watched)), listener];
    if (signal.aborted) return queueMicrotask(() => notifyEnd(listeners, fail('cancelled')));
    const wanted = wantedCtx(target, submission.numCtx);
    try {
      this.#checkTarget(target, wanted);
    } catch (error) {
      this.#options.log.error({ model: target.modelId, requestId, error }, 'A job cannot be planned.');
      return queueMicrotask(() => notifyEnd(listeners, asSvcError(error)));
    }
    this.#lastSeq += 1;
    const seq = this.#lastSeq;
    this.#requests.open(seq, { submission, listeners, signal, onAbort: () => this.#cancel(seq) });
    this.#policy.onSubmit({
      seq,
      target,
      flow: `${jobFlow(job)} ${submission.clientKey}`,
      lane: jobLane(job),
      cost: jobCost(job),
      isBackground: submission.isBackground === true,
      wantedCtx: wanted,
      keepAliveMs: submission.keepAliveMs,
      poisonKey: () => poisonKey(target.modelId, job),
      grammarKey: () => grammarKey(target.modelId, job),
    });
    this.#notifyChange();
  }

  residencies(): readonly ResidencyStatus[] {
    const { clock } = this.#options;
    const toUnixMs = clock.unixMs() - clock.monotonicMs();
    const ranks = evictionOrder(this.#policy.state).map(({ id }) => id);
    return residencies(this.#policy.state).map((residency) => ({
      modelId: residency.modelId,
      kind: residency.target.kind,
      engine: residency.target.engine,
      place: residency.target.place,
      state: residency.state === 'ending' ? 'draining' : residency.state,
      facts: residency.facts,
      planned: residency.plan.memory,
      cache: this.#loads.get(residency.id)?.model?.cacheTiers?.(),
      cellsUsed: this.#loads.get(residency.id)?.model?.cellsUsed?.(),
      running: residency.running.size,
      queued: this.#policy.state.models.get(residency.modelId)?.queue.length ?? 0,
      expiresAtMs: residency.expiresAtMs === null ? null : Math.round(residency.expiresAtMs + toUnixMs),
      sinceMs: Math.round(
        toUnixMs + (Number.isFinite(residency.readyAtMs) ? residency.readyAtMs : residency.startedAtMs),
      ),
      lastUsedMs: Math.round(residency.lastUsedMs + toUnixMs),
      evictionRank: ranks.indexOf(residency.id) + 1 || null,
    }));
  }

  queueFull(clientKey: string): QueueFull | null {
    return this.#policy.queueFull(`${CHAT_FLOW} ${clientKey}`);
  }

  plan(target: ModelTarget, numCtx: number | null): LoadForecast {
    const model = this.#policy.state.models.get(target.modelId);
    const residency = model?.residency ?? null;
    const wanted = wantedCtx(target, numCtx);
    if (residency !== null && residency.state !== 'ending' && serves(residency, target, wanted)) {
      const { memory: planned, slots, facts, plan } = residency;
      const window = facts?.numCtx ?? plan.numCtx;
      return { planned, slots, window, loaded: residency.state === 'ready', evicts: [] };
    }
    this.#checkTarget(target, wanted);
    const room = this.#policy.room(target, wanted);
    return {
      planned: room.need,
      slots: room.kind === 'there' ? room.plan.slots : (this.#limits.numParallel ?? USUAL_SLOTS),
      window: room.kind === 'there' ? room.plan.numCtx : null,
      loaded: false,
      evicts:
        room.kind === 'evict' || room.kind === 'busy' ? room.victims.map((victim) => victim.modelId) : [],
    };
  }

  async unload(modelId: string): Promise<boolean> {
    const residency = this.#policy.state.models.get(modelId)?.residency ?? null;
    if (residency === null) return false;
    const gone = new Promise<void>((resolve) => {
      const waiters = this.#goneWaiters.get(residency.id) ?? [];
      this.#goneWaiters.set(residency.id, [...waiters, resolve]);
    });
    this.#policy.onUnload(modelId);
    await gone;
    return true;
  }

  watchSlots(onSlots: ((modelId: string, slots: SlotStates) => void) | null): void {
    this.#onSlots = onSlots;
    for (const load of this.#loads.values()) this.#watchSlots(load);
  }

  async drain(graceMs: number): Promise<void> {
    const { clock, backends } = this.#options;
    this.#policy.onDrain(graceMs);
    await this.#requests.idle(clock, graceMs);
    this.#requests.stopAll(fail('draining'));
    await Promise.all(Object.values(backends).map((backend) => backend.close()));
    this.cancelTimer();
  }

  // Effects. None calls the policy before it has returned; listeners, which may abort, are notified later.

  measureModel(target: ModelTarget): void {
    const measured = this.#backendFor(target).measure?.(target) ?? Promise.resolve();
    void measured.then(() => this.#policy.onMeasured(target));
  }

  loadModel(order: LoadOrder): void {
    const load: Load = { order, abort: new AbortController(), model: null };
    this.#loads.set(order.residencyId, load);
    this.#notifyChange();
    void this.#load(load);
  }

  unloadModel(residencyId: number): void {
    const load = this.#loads.get(residencyId);
    load?.abort.abort();
    void load?.model?.unload();
  }

  startJob(seq: number, residencyId: number): void {
    const request = this.#requests.get(seq);
    const model = this.#loads.get(residencyId)?.model;
    if (request && model) this.#run(seq, request, model);
  }

  preemptJob(seq: number): void {
    queueMicrotask(() => this.#end(seq));
  }

  rejectJob(seq: number, error: SvcError): void {
    queueMicrotask(() => this.#requests.settle(seq, error));
  }

  notifyQueued(seq: number, position: number, reason: string): void {
    queueMicrotask(() => this.#requests.tell(seq, { type: 'queued', position, reason }));
  }

  setTimer(delayMs: number): void {
    this.cancelTimer();
    this.#cancelTimer = this.#options.clock.after(delayMs, () => this.#policy.onTimer());
  }

  cancelTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  async #load(load: Load): Promise<void> {
    const { target, plan, residencyId } = load.order;
    const { clock, log } = this.#options;
    const facts = { model: target.modelId, ...knownPlan(load.order) };
    const startedAtMs = clock.monotonicMs();
    const notifyLoad = (failure: string | null): void => {
      const finished = { modelId: target.modelId, ms: clock.monotonicMs() - startedAtMs, failure };
      for (const observer of this.#options.observers ?? []) observer.onLoad?.(finished);
    };
    log.info(facts, 'Loading a model.');
    try {
      const model = await this.#backendFor(target).load(target, plan, load.abort.signal);
      load.model = model;
      void model.gone.then(({ reason }) => this.#gone(residencyId, reason));
      if (load.abort.signal.aborted) return void model.unload();
      log.info({ ...facts, ms: clock.monotonicMs() - startedAtMs }, 'Model loaded.');
      notifyLoad(null);
      if (this.#onSlots !== null) this.#watchSlots(load);
      this.#policy.onLoaded(residencyId, model.facts);
      this.#notifyChange();
    } catch (error) {
      log.warn({ ...facts, error }, 'A model could not be loaded.');
      notifyLoad(asSvcError(error).code);
      this.#forget(residencyId);
      this.#policy.onLoadFailed(residencyId, asSvcError(error));
      this.#notifyChange();
    }
  }

  #backendFor(target: ModelTarget): Backend {
    const backend = this.#options.backends[target.engine];
    if (backend === undefined) throw new Error(`no backend runs models of engine ${target.engine}`);
    return backend;
  }

  /** Throws early what the backend would throw in the middle of a decision. */
  #checkTarget(target: ModelTarget, numCtx: number): void {
    this.#backendFor(target).memoryNeed(target, { numCtx, slots: 1, cells: numCtx });
  }

  /** A pass decides for every model, so a failed estimate must affect only its own jobs: it fits nowhere. */
  #memoryNeed(target: ModelTarget, size: LoadSize): Memory | null {
    try {
      return this.#backendFor(target).memoryNeed(target, size);
    } catch (error) {
      this.#options.log.error({ model: target.modelId, error }, 'The memory of a model cannot be planned.');
      return [{ device: HOST_DEVICE, bytes: Number.POSITIVE_INFINITY }];
    }
  }

  #isMeasured(target: ModelTarget): boolean {
    return this.#options.backends[target.engine]?.isMeasured?.(target) ?? true;
  }

  #gone(residencyId: number, reason: string | null): void {
    const model = this.#loads.get(residencyId)?.order.target.modelId;
    this.#options.log.info({ model, ...(reason === null ? {} : { reason }) }, 'Model unloaded.');
    for (const observer of this.#options.observers ?? []) observer.onGone?.(model ?? '', reason);
    this.#forget(residencyId);
    this.#policy.onGone(residencyId);
    this.#notifyChange();
  }

  #forget(residencyId: number): void {
    this.#loads.delete(residencyId);
    for (const resolve of this.#goneWaiters.get(residencyId) ?? []) resolve();
    this.#goneWaiters.delete(residencyId);
  }

  /** The slot is free only after the worker's last event of the job, whatever the client does. */
  #run(seq: number, request: OpenRequest, model: LoadedModel): void {
    const { job, route } = request.submission;
    const listener: JobListener = {
      onEvent: (event) => {
        request.begun = true;
        this.#requests.tell(seq, event);
      },
      room: () => this.#requests.room(seq),
      onEnd: (failure) => {
        if (failure !== null) return this.#failed(seq, request, asSvcError(failure));
        this.#requests.settle(seq, null);
        this.#policy.onJobEnded(seq, true);
        this.#notifyChange();
      },
    };
    model.run(job, request.stop.signal, listener, route);
  }

  #failed(seq: number, request: OpenRequest, error: SvcError): void {
    if (error.code === 'worker_crashed' || error.code === 'worker_hung') {
      // A job that its client has cancelled must not return to the queue.
      const begun = request.begun || this.#requests.get(seq) === undefined;
      const isOutside = error.code === 'worker_crashed' && error.detail.outside === true;
      this.#policy.onJobCrashed(seq, { error, blame: !isOutside, begun });
      return;
    }
    const { requestId } = request.submission;
    if (error.code === 'internal')
      this.#options.log.error({ requestId, error }, 'A job failed unexpectedly.');
    this.#requests.settle(seq, error);
    this.#policy.onJobEnded(seq, false);
    this.#notifyChange();
  }

  #cancel(seq: number): void {
    if (!this.#end(seq)) return;
    this.#policy.onCancel(seq);
    this.#notifyChange();
  }

  #end(seq: number): boolean {
    const request = this.#requests.get(seq);
    if (request === undefined) return false;
    this.#requests.settle(seq, fail('cancelled'));
    request.stop.abort();
    return true;
  }

  #watchSlots({ order, model }: Load): void {
    const onSlots = this.#onSlots;
    const { modelId } = order.target;
    model?.watchSlots?.(onSlots === null ? null : (slots) => onSlots(modelId, slots));
  }

  #notifyChange(): void {
    for (const observer of this.#options.observers ?? []) observer.onChange?.();
  }
}

/** An upstream may report no window. */
function knownPlan({ target, plan }: LoadOrder): object {
  const { numCtx, cells: _, ...rest } = plan;
  if (numCtx === UNKNOWN_WINDOW) return rest;
  return { ...plan, windowIs: target.defaultCtx === null ? 'chosen' : 'set' };
}

function jobFlow(job: Job): string {
  if (takesNoSlot(job)) return 'vocabulary';
  return job.kind === 'embed' || job.kind === 'rank' ? job.kind : CHAT_FLOW;
}

function jobLane(job: Job): Lane {
  if (takesNoSlot(job)) return 'light';
  return job.kind === 'generate' && job.lane === 'frozen' ? 'frozen' : 'shared';
}

/** Fairness counts work, not requests: one request may contain two thousand inputs. */
function jobCost(job: Job): number {
  if (job.kind === 'rank') return Math.max(1, job.documents.length);
  return job.kind === 'embed' ? Math.max(1, job.inputs.length) : 1;
}

function asSvcError(error: unknown): SvcError {
  return isSvcError(error) ? error : fail('internal', {}, error);
}
