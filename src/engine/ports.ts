/**
 * The two ports around the scheduler. `Backend` is what it needs (engine/local implements it over child processes);
 * `Engine` is what it offers (api/ calls it). Neither knows HTTP, wire shapes or the registry.
 */
import type { Job } from '../contract/job.ts';
import type { JobEvent } from '../contract/job-event.ts';
import type { BackendFacts, LoadedFacts, LoadSpec, ModelKind } from '../contract/load.ts';

/** Hears of one job: its events in order, then exactly one end. It must not throw. */
export interface JobListener {
  onEvent(event: JobEvent): void;
  /** Null: the job is complete and its last event was its final one. */
  onEnd(failure: Error | null): void;
}

/** A loaded model in a worker of its own. */
export interface LoadedModel {
  readonly facts: LoadedFacts;
  /** The process id of the worker, for people and tests. */
  readonly pid: number;
  /**
   * Runs a job; aborting the signal stops it within one step. The listener is never called from inside this call.
   * After a crash every open job fails with `worker_crashed` or `worker_hung`.
   */
  run(job: Job, signal: AbortSignal, listener: JobListener): void;
  /** Ends the worker; resolves when the process is gone. Safe to call twice. */
  unload(): Promise<void>;
  /** Resolves when the worker is gone for whatever reason; `reason` is null after unload(). */
  readonly gone: Promise<{ readonly reason: string | null }>;
}

export interface Backend {
  /** Loads a model in the spare worker or a fresh one; rejects with SvcError. */
  load(spec: LoadSpec, signal: AbortSignal, onProgress: (fraction: number) => void): Promise<LoadedModel>;
  /** Starts the spare worker if none waits; never throws. */
  prepare(): void;
  /** Facts of the native library once a worker has booted, else why it cannot be used, else null (not known yet). */
  backendFacts(): BackendFacts | { readonly failed: string } | null;
  /** Ends every worker, the spare included. */
  close(): Promise<void>;
}

/** What the scheduler must know of a model; the registry fills it in. */
export interface ModelTarget {
  readonly modelId: string;
  readonly kind: ModelKind;
  readonly path: string;
  readonly digest: string | null;
  /** Trained window, tokens; the most that num_ctx can be. */
  readonly trainedCtx: number;
  /** The window when a request names none. */
  readonly defaultCtx: number;
  /** Threads pinned for this model by the user, or null. */
  readonly threads: number | null;
  /** Bytes of weights on disk, and bytes of KV state per token of window and sequence. */
  readonly weightsBytes: number;
  readonly kvBytesPerToken: number;
  /** Re-checks the file just before a load; rejects with SvcError when it changed. */
  verify(): Promise<void>;
}

export interface Submission {
  readonly target: ModelTarget;
  readonly job: Job;
  /** Fairness is per client; any stable string. */
  readonly clientKey: string;
  /** The requested window, or null. */
  readonly numCtx: number | null;
  /** Milliseconds to keep the model after this job; Infinity: for ever; 0: unload at once; null: the default. */
  readonly keepAliveMs: number | null;
}

/** One loaded (or loading) model as `hearth ps` shows it. */
export interface ResidencyStatus {
  readonly modelId: string;
  readonly kind: ModelKind;
  readonly state: 'loading' | 'ready' | 'draining';
  readonly pid: number | null;
  readonly facts: LoadedFacts | null;
  readonly plannedBytes: number;
  readonly running: number;
  readonly queued: number;
  /** Unix milliseconds when it will be unloaded if nothing comes; null: never or busy. */
  readonly expiresAtMs: number | null;
}

export interface LoadForecast {
  /** The model is in memory already, with room for the window. */
  readonly loaded: boolean;
  readonly plannedBytes: number;
  readonly slots: number;
  /** The ids that would be unloaded to make room. */
  readonly evicts: readonly string[];
}

export interface Engine {
  /**
   * Admits, waits, loads, runs. Events begin with any number of `queued`; aborting the signal ends the job with
   * `cancelled`. The listener is never called from inside this call.
   */
  submit(submission: Submission, signal: AbortSignal, listener: JobListener): void;
  residencies(): readonly ResidencyStatus[];
  /** What a job for this target would find; loads and evicts nothing. */
  plan(target: ModelTarget, numCtx: number | null): LoadForecast;
  /** Unloads when idle, or as soon as its running jobs end; resolves false when it is not loaded. */
  unload(modelId: string): Promise<boolean>;
  /** Refuses new work, lets running jobs finish for at most `graceMs`, then ends everything. */
  drain(graceMs: number): Promise<void>;
}

/** Watches the engine, for figures and for people; it decides nothing and must not throw. */
export interface EngineObserver {
  /** A job was submitted. The listener hears all that the client's listener hears, before it does. */
  watchJob(submission: Submission): JobListener;
}
