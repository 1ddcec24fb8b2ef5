/**
 * One forked child, from fork to exit: boots, loads one model, runs jobs, ends. It knows the IPC and the signs of
 * life, but neither which model to load when, nor the number of workers (local-backend.ts does). Every promise and
 * every job settles when the child is gone, whatever the reason.
 */
import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import type { FromWorker, IpcFailure, ToWorker } from '../../../contract/ipc.ts';
import type { Job } from '../../../contract/job.ts';
import { packedJob } from '../../../contract/job-tools.ts';
import type { ModelFormatFacts } from '../../../contract/job-event.ts';
import type { BackendFacts, FormatSpec, LoadedFacts, LoadSpec, MeasureSpec } from '../../../contract/load.ts';
import { type Measurement, noMemoryLine } from '../../../contract/memory.ts';
import type { CacheTiers, SlotStates } from '../../../contract/slots.ts';
import { fail, reviveFailure, type SvcError } from '../../../lib/errors/svc-error.ts';
import type { JobListener } from '../ports.ts';
import { type Deferred, deferred } from '../../../lib/base/deferred.ts';
import { readMessage } from './inbound.ts';
import type { Launched } from './child/launch.ts';
import type { WorkerLimits } from './limits.ts';
import { OpenJobs } from './open-jobs.ts';
import type { StderrTail } from './child/stderr-tail.ts';
import { RunQueue } from './child/run-queue.ts';
import { Watchdog } from './watchdog.ts';
import { WORKER_CODES, type WorkerCode } from '../../../contract/worker-failure.ts';

type Question =
  | { readonly to: 'measured'; readonly answer: Deferred<Measurement> }
  | { readonly to: 'format'; readonly answer: Deferred<ModelFormatFacts | null> };

type Ending =
  | { readonly kind: 'asked' }
  | { readonly kind: 'hung'; readonly reason: string }
  /** `outside`: a signal that only another process sends, so no request is to blame. */
  | {
      readonly kind: 'crashed';
      readonly reason: string;
      readonly outside: boolean;
      /** llama.cpp aborts the process when a device refuses memory. */
      readonly outOfMemory: boolean;
    };

interface WorkerDeps {
  readonly limits: WorkerLimits;
  readonly clock: Clock;
  readonly log: Logger;
}

export class WorkerHost {
  readonly pid: number;
  readonly booted: Promise<BackendFacts>;
  /** Resolves after the exit; the reason is null if `end` caused it. */
  readonly gone: Promise<{ readonly reason: string | null }>;

  onThreads: ((found: Extract<FromWorker, { type: 'threads' }>) => void) | undefined;

  readonly #child: ChildProcess;
  readonly #stderr: StderrTail;
  readonly #deps: WorkerDeps;
  readonly #watchdog: Watchdog;
  readonly #runQueue: RunQueue;
  #heldUpMs = 0;
  readonly #jobs: OpenJobs;
  readonly #boot = deferred<BackendFacts>();
  readonly #load = deferred<LoadedFacts>();
  readonly #exit = deferred<{ readonly reason: string | null }>();
  #question: Question | undefined;
  #onSlots: ((slots: SlotStates) => void) | null = null;
  #cacheTiers: CacheTiers | undefined;
  #cellsUsed: number | undefined;
  #saved: Deferred<void> | undefined;
  #hasLoaded = false;
  #modelId = '';
  #loading = false;
  #ending: Ending | undefined;
  #cancelBeat: (() => void) | undefined;
  #cancelBootTimer: () => void;
  #nonce = 0;

  constructor(launched: Launched, deps: WorkerDeps) {
    this.#child = launched.child;
    this.#stderr = launched.stderr;
    this.#deps = deps;
    this.pid = launched.child.pid ?? 0;
    this.#runQueue = new RunQueue(this.pid);
    this.booted = this.#boot.promise;
    this.gone = this.#exit.promise;
    this.#watchdog = new Watchdog(deps.limits, deps.limits.silenceMs);
    this.#jobs = new OpenJobs((jobId) => this.#watchdog.jobClosed(jobId));
    this.#boot.promise.catch(() => {});
    this.#load.promise.catch(() => {});
    this.#cancelBootTimer = deps.clock.after(deps.limits.bootMs, () =>
      this.#kill({ kind: 'hung', reason: 'it did not become ready in time' }),
    );
    this.#listen();
  }

  get alive(): boolean {
    return this.#ending === undefined;
  }

  get loading(): boolean {
    return this.#loading;
  }

  get busy(): boolean {
    return this.#loading || this.#question !== undefined || this.#jobs.size > 0;
  }

  get cacheTiers(): CacheTiers | undefined {
    return this.#cacheTiers;
  }

  get cellsUsed(): number | undefined {
    return this.#cellsUsed;
  }

  /** One question at a time, before the load. Rejects with the child's reason, or if it dies or exceeds its time. */
  measure(spec: MeasureSpec): Promise<Measurement> {
    const answer = deferred<Measurement>();
    return this.#ask({ type: 'measure', spec }, { to: 'measured', answer }, answer.promise);
  }

  askFormat(spec: FormatSpec): Promise<ModelFormatFacts | null> {
    const answer = deferred<ModelFormatFacts | null>();
    return this.#ask({ type: 'ask_format', spec }, { to: 'format', answer }, answer.promise);
  }

  async #ask<Answer>(
    message: Extract<ToWorker, { type: 'measure' | 'ask_format' }>,
    question: Question,
    answer: Promise<Answer>,
  ): Promise<Answer> {
    if (!this.alive) throw this.#errorOfEnding();
    this.#modelId = message.spec.modelId;
    this.#question = question;
    const cancelTimer = this.#deps.clock.after(this.#deps.limits.questionMs, () =>
      this.#kill({ kind: 'hung', reason: 'it took too long to look at a model' }),
    );
    this.#send(message);
    try {
      return await answer;
    } finally {
      this.#question = undefined;
      cancelTimer();
    }
  }

  /** Rejects with the child's reason, or with load_failed if the child dies. */
  async load(spec: LoadSpec, signal: AbortSignal): Promise<LoadedFacts> {
    if (!this.alive) throw this.#errorOfEnding();
    this.#modelId = spec.modelId;
    this.#loading = true;
    const abort = (): void => {
      this.#load.reject(fail('cancelled'));
      void this.end();
    };
    signal.addEventListener('abort', abort, { once: true });
    const cancelTimer = this.#deps.clock.after(this.#deps.limits.loadMs, () =>
      this.#kill({ kind: 'hung', reason: 'the load took too long' }),
    );
    this.#watchdog.begin(this.#deps.limits.loadSilenceMs);
    this.#beat();
    this.#send({ type: 'load', spec });
    if (signal.aborted) abort();
    try {
      return await this.#load.promise;
    } finally {
      this.#loading = false;
      signal.removeEventListener('abort', abort);
      cancelTimer();
    }
  }

  run(job: Job, signal: AbortSignal, listener: JobListener): void {
    const refusal = this.#refusal(job, signal);
    if (refusal !== null) return queueMicrotask(() => listener.onEnd(refusal));
    const cancel = (): void => this.#send({ type: 'cancel', jobId: job.jobId });
    signal.addEventListener('abort', cancel, { once: true });
    this.#jobs.open(job.jobId, {
      onEvent: (event) => listener.onEvent(event),
      onEnd: (failure) => {
        signal.removeEventListener('abort', cancel);
        listener.onEnd(failure);
      },
    });
    this.#watchdog.jobOpened(job);
    if (this.#jobs.size === 1) this.#watchdog.begin(this.#deps.limits.silenceMs);
    this.#beat();
    this.#send({ type: 'start', ...packedJob(job) });
  }

  watchSlots(onSlots: ((slots: SlotStates) => void) | null): void {
    this.#onSlots = onSlots;
    if (this.alive) this.#send({ type: 'watch', watched: onSlots !== null });
  }

  /** Lets the child write persistent state, for a bounded time; never rejects. */
  async save(): Promise<void> {
    if (!this.alive || !this.#hasLoaded) return;
    const saved = deferred<void>();
    this.#saved = saved;
    const cancelTimer = this.#deps.clock.after(this.#deps.limits.saveMs, () => saved.resolve());
    this.#send({ type: 'save' });
    void this.gone.then(() => saved.resolve());
    await saved.promise;
    cancelTimer();
  }

  /** Closes the channel, and kills a child that does not exit. Safe to call twice. */
  async end(): Promise<void> {
    if (this.alive) {
      this.#settle({ kind: 'asked' });
      if (this.#child.connected) this.#child.disconnect();
      const cancel = this.#deps.clock.after(this.#deps.limits.graceMs, () => this.#child.kill('SIGKILL'));
      void this.gone.then(cancel);
    }
    await this.gone;
  }

  #refusal({ jobId }: Job, signal: AbortSignal): Error | null {
    if (signal.aborted) return fail('cancelled');
    if (!this.alive) return this.#errorOfEnding();
    // Two jobs with one id would receive each other's events.
    return this.#jobs.has(jobId)
      ? new Error(`the job ${jobId} is open already; give each job its own id`)
      : null;
  }

  #listen(): void {
    const child = this.#child;
    child.on('message', (raw) => this.#onMessage(raw));
    child.once('error', (error) => {
      // Without a process id the child never existed and no exit will follow.
      if (child.pid === undefined) this.#onExit(null, null, error.message);
      else this.#deps.log.debug({ pid: child.pid, error }, 'A message could not be passed to a worker.');
    });
    child.once('disconnect', () => {
      // A child without a channel is useless, but one that is crashing gets time to report its exit status.
      const cancel = this.#deps.clock.after(this.#deps.limits.graceMs / 4, () => child.kill('SIGKILL'));
      void this.gone.then(cancel);
    });
    child.once('exit', (code, signal) => {
      // The child's last messages may still be in the channel.
      if (!child.connected) return this.#onExit(code, signal);
      const cancel = this.#deps.clock.after(this.#deps.limits.graceMs / 4, () => this.#onExit(code, signal));
      child.once('disconnect', () => {
        cancel();
        this.#onExit(code, signal);
      });
    });
  }

  #onMessage(raw: unknown): void {
    if (!this.alive) return;
    const message = readMessage(raw);
    if (message !== null && this.#take(message)) return;
    const reason = 'it sent an invalid message';
    this.#kill({ kind: 'crashed', reason, outside: false, outOfMemory: false });
  }

  #take(message: FromWorker): boolean {
    this.#watchdog.alive();
    switch (message.type) {
      case 'booted':
        this.#cancelBootTimer();
        this.#boot.resolve(message.backend);
        return true;
      case 'boot_failed':
        this.#boot.reject(fail('native_unavailable', { reason: message.reason }));
        void this.end();
        return true;
      case 'measured':
        if (this.#question?.to !== 'measured') return false;
        this.#question.answer.resolve(message.measurement);
        return true;
      case 'format':
        if (this.#question?.to !== 'format') return false;
        this.#question.answer.resolve(message.facts);
        return true;
      case 'question_failed':
        this.#question?.answer.reject(errorOfFailure(message.failure, this.#modelId));
        return this.#question !== undefined;
      case 'loading':
        return this.#loading;
      case 'loaded':
        this.#load.resolve(message.facts);
        this.#hasLoaded = true;
        return this.#endLoad();
      case 'saved':
        this.#saved?.resolve();
        return this.#saved !== undefined;
      case 'load_failed':
        this.#load.reject(errorOfFailure(message.failure, this.#modelId));
        return this.#endLoad();
      case 'attention':
        this.#logAttention(message);
        return !this.#loading;
      case 'threads':
        this.onThreads?.(message);
        return !this.#loading;
      case 'slots':
        this.#cellsUsed = message.slots.reduce((sum, { keptTokens }) => sum + keptTokens, 0);
        this.#onSlots?.(message.slots);
        return !this.#loading;
      case 'cache':
        this.#cacheTiers = message.tiers;
        return !this.#loading;
      case 'events':
        return message.events.every(({ jobId, event }) => {
          this.#watchdog.eventSeen(jobId, event, this.#deps.clock.monotonicMs());
          return this.#jobs.deliver(jobId, event);
        });
      case 'failed':
        return this.#jobs.fail(message.jobId, errorOfFailure(message.failure, this.#modelId));
      case 'pong':
        this.#watchdog.stepsReported(message.steps, this.#deps.clock.monotonicMs());
        return message.nonce <= this.#nonce;
      default:
        return false;
    }
  }

  /**
   * False if no load was running. Called at once and not when `load` resumes: later messages of the model may arrive
   * in the same turn of the event loop.
   */
  #endLoad(): boolean {
    const wasLoading = this.#loading;
    this.#loading = false;
    return wasLoading;
  }

  #logAttention({ flash, ms, tokens }: Extract<FromWorker, { type: 'attention' }>): void {
    const facts = { model: this.#modelId, flashAttention: flash, ms: Math.round(ms), tokens };
    this.#deps.log.info(facts, `Flash attention was switched ${flash ? 'on' : 'off'}.`);
  }

  #send(message: ToWorker): void {
    if (!this.#child.connected) return;
    this.#child.send(message, (error) => {
      if (error) this.#deps.log.debug({ pid: this.pid, error }, 'A message could not be passed to a worker.');
    });
  }

  #beat(): void {
    if (this.#cancelBeat !== undefined || !this.alive) return;
    this.#cancelBeat = this.#deps.clock.after(this.#deps.limits.heartbeatMs, () => {
      this.#cancelBeat = undefined;
      if (!this.#loading && this.#jobs.size === 0) return;
      const reason = this.#watchdog.tick(this.#jobs.size > 0, this.#heldUpMs);
      if (reason !== null) return this.#kill({ kind: 'hung', reason });
      this.#heldUpMs = 0;
      if (this.#watchdog.isSlow) void this.#runQueue.heldUpMs().then((ms) => (this.#heldUpMs = ms));
      if (this.#watchdog.isQuiet) {
        this.#nonce += 1;
        this.#send({ type: 'ping', nonce: this.#nonce });
      }
      this.#beat();
    });
  }

  #kill(ending: Ending): void {
    if (!this.alive) return;
    this.#settle(ending);
    this.#child.kill('SIGKILL');
  }

  #onExit(code: number | null, signal: string | null, spawnError?: string): void {
    const asked = this.#ending?.kind === 'asked';
    const how = spawnError ?? (signal === null ? `exit code ${code}` : `signal ${signal}`);
    const noMemory = noMemoryLine(this.#stderr.text);
    this.#settle({
      kind: 'crashed',
      reason: noMemory === null ? how : `${how}: ${noMemory.replace(/^llama error: /, '')}`,
      outOfMemory: noMemory !== null,
      outside: signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGINT' || signal === 'SIGHUP',
    });
    if (!asked) {
      const facts = { pid: this.pid, model: this.#modelId, ...this.#ending, stderr: this.#stderr.text };
      this.#deps.log.error(facts, 'A worker ended unexpectedly.');
    }
    const reason = this.#ending === undefined || this.#ending.kind === 'asked' ? null : this.#ending.reason;
    this.#exit.resolve({ reason });
  }

  #settle(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#cancelBootTimer();
    this.#cancelBeat?.();
    const why = ending.kind === 'asked' ? 'it was asked to end' : ending.reason;
    this.#boot.reject(fail('native_unavailable', { reason: `the worker exited: ${why}` }));
    const code = ending.kind === 'crashed' && ending.outOfMemory ? 'out_of_memory' : 'load_failed';
    this.#load.reject(fail(code, { model: this.#modelId, reason: `the worker exited: ${why}` }));
    this.#question?.answer.reject(this.#errorOfEnding());
    this.#jobs.failAll(this.#errorOfEnding());
  }

  #errorOfEnding(): SvcError {
    const ending = this.#ending;
    const model = this.#modelId;
    if (ending?.kind === 'hung') return fail('worker_hung', { model, reason: ending.reason });
    if (ending?.kind === 'crashed')
      return fail('worker_crashed', { model, reason: ending.reason, outside: ending.outside });

    return fail('worker_crashed', { model, reason: 'it was unloaded', outside: true });
  }
}

const MAX_CHARS = 2_000;

/** Names the requested model, whatever id the worker reports. */
function errorOfFailure({ code, detail }: IpcFailure, modelId: string): SvcError {
  if (!isWorkerCode(code)) return defect(`unknown code of a worker: ${code.slice(0, 100)}`);
  const checked = reviveFailure(code, { ...shortened(detail), model: modelId });
  return checked ?? defect(`a worker failed with ${code}, and its detail is not that of the code`);
}

const defect = (reason: string): SvcError => fail('internal', { reason }, new Error(reason));

function isWorkerCode(code: string): code is WorkerCode {
  return WORKER_CODES.some((known) => known === code);
}

function shortened(detail: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, MAX_CHARS) : value,
    ]),
  );
}
