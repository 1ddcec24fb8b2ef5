/**
 * server/engine owns the server side of running jobs: models in memory, order and outcome of jobs. These are its ports. api/
 * calls `Engine`; each kind of engine is a folder that implements `Backend`, and app.ts passes it to the scheduler.
 * The ports describe capabilities: only an engine kind knows files, processes or KV bytes, and engine knows nothing
 * of HTTP, wire shapes or the registry.
 */
import type { Job, Turn } from '../../contract/job.ts';
import type { DetailOf } from '../../lib/errors/catalogue.ts';
import type { SvcError } from '../../lib/errors/svc-error.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import type { ModelKind } from '../../contract/load.ts';
import type { DeviceBytes } from '../../contract/memory.ts';
import type { CacheTiers, SlotStates } from '../../contract/slots.ts';
import type { SamplingOption } from '../../contract/sampling-shapes.ts';
import type { Privacy } from '../../contract/settings/privacy.ts';

/** Receives the events of one job in order, then exactly one `onEnd`. Must not throw. */
export interface JobListener {
  onEvent(event: JobEvent): void;
  /** Null: the last event was the final one. */
  onEnd(failure: Error | null): void;
  /** Resolves when the reader has caught up; undefined or absent: it has. A backend that can pause its source waits. */
  room?(): Promise<void> | undefined;
}

export type Medium = 'image' | 'audio';

export type IdleOption = SamplingOption | 'numCtx' | 'keepAlive' | 'thinkingBudget';

export interface Capabilities {
  readonly canFreeze: boolean;
  readonly canExplain: boolean;
  readonly canTokenize: boolean;
  readonly canRank: boolean;
  readonly canContinue?: boolean;
  readonly media?: readonly Medium[];
  readonly idle?: ReadonlySet<IdleOption>;
  readonly drawsSeed?: boolean;
}

export type EngineKind = 'local' | 'remote' | 'command' | 'pool';

/** Window of a model that reports none: larger than any, so that no request is refused for it here. */
export const UNKNOWN_WINDOW = 2 ** 31 - 1;

export interface ModelTarget {
  readonly modelId: string;
  readonly kind: ModelKind;
  /** Backend that runs it; a pool is resolved to a member before. */
  readonly engine: EngineKind;
  readonly place?: string;
  /** The farthest that requests may be sent, if the user set a limit. */
  readonly farthest?: Privacy;
  readonly capabilities: Capabilities;
  /** Trained window, tokens; upper limit of num_ctx. */
  readonly trainedCtx: number;
  /** Window when a request names none; null: chosen by the load plan (server/engine/scheduler/memory-plan.ts). */
  readonly defaultCtx: number | null;
  /** Changes with the weights of the id; a loaded model serves only its own revision. */
  readonly revision: string;
  /** Data for its own backend; opaque to all other code. */
  readonly source: unknown;
}

export interface LoadSize {
  readonly numCtx: number;
  readonly slots: number;
  readonly cells: number;
}

export interface DeviceMemory {
  readonly device: string;
  readonly bytes: number;
  readonly within?: string;
}

export type Memory = readonly DeviceMemory[];

/** May be smaller than the requested size. */
export interface ResidencyFacts extends LoadSize {
  readonly memory: Memory;
  /** Includes buffers that no step has touched yet. */
  readonly measured?: Memory;
  readonly parts?: readonly DeviceBytes[];
  readonly details?: Readonly<Record<string, number>>;
}

export interface LoadedModel {
  readonly facts: ResidencyFacts;
  /**
   * Aborting the signal stops the job within one step. The listener is never called from inside this call. When the
   * model is lost, every open job fails with `worker_crashed` or `worker_hung`. Only remote engines use the route.
   */
  run(job: Job, signal: AbortSignal, listener: JobListener, route?: Route): void;
  watchSlots?(onSlots: ((slots: SlotStates) => void) | null): void;
  cacheTiers?(): CacheTiers | undefined;
  cellsUsed?(): number | undefined;
  /** Resolves when its memory is free. Safe to call twice. */
  unload(): Promise<void>;
  /** Resolves when the model has left memory; `reason` is null after unload(). */
  readonly gone: Promise<{ readonly reason: string | null }>;
}

export interface Backend {
  memoryNeed(target: ModelTarget, size: LoadSize): Memory | null;
  /** False: `measure` would improve `memoryNeed`. Absent: it is always exact. */
  isMeasured?(target: ModelTarget): boolean;
  /** Resolves when nothing more can be learned, even after a failure; never rejects. */
  measure?(target: ModelTarget): Promise<void>;
  /** Rejects with SvcError; after `out_of_memory` the known need of that size is larger. */
  load(target: ModelTarget, size: LoadSize, signal: AbortSignal): Promise<LoadedModel>;
  close(): Promise<void>;
}

export interface AdmittedJob {
  readonly job: Job;
  readonly isLocalOnly?: boolean;
  /** Called before the client receives the event; a returned error ends the job instead. */
  onEvent(event: JobEvent): SvcError | null;
  onEnd(): void;
}

export interface JobGate {
  admit(submission: Submission): AdmittedJob;
}

export interface AnswerChecks {
  onCheck?(ms: number): void;
}

/** Condition of an edit: above this number of tokens, share of the window, or number of tool calls. */
export interface Trigger {
  readonly of: 'tokens' | 'window' | 'calls';
  readonly value: number;
}

export interface ClearResults {
  readonly kind: 'results';
  readonly trigger: Trigger;
  readonly keep: number;
  /** Results are cleared in groups of this size, so that the prompt stays stable and cached in between. */
  readonly step: number;
  readonly atLeastTokens: number;
  readonly exclude: readonly string[];
  readonly clearsInputs: boolean | readonly string[];
}

export interface ClearThinking {
  readonly kind: 'thinking';
  readonly keep: number;
}

export interface Summarise {
  readonly kind: 'summary';
  readonly trigger: Trigger;
  readonly ofAll?: boolean;
  readonly instructions?: string;
}

export type ContextEdit = ClearResults | ClearThinking | Summarise;

export interface Answering {
  readonly name: string;
  readonly insteadOf?: string;
  readonly because?: string;
  /** Continues an answer whose start another upstream sent. */
  readonly isResumed?: boolean;
}

export interface Route {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly session?: string | undefined;
  readonly isLocalOnly?: boolean | undefined;
  readonly mayResume?: boolean | undefined;
  /** Client's timeout for the whole answer, milliseconds. */
  readonly patienceMs?: number | undefined;
  readonly onSent?: (upstream: Answering) => void;
}

export interface Submission {
  readonly target: ModelTarget;
  readonly job: Job;
  readonly route?: Route | undefined;
  /** Fairness key of the client: any stable string. */
  readonly clientKey: string;
  readonly clientName?: string;
  readonly requestId?: string;
  readonly gate?: JobGate;
  /** Validates tool calls and answers of chat jobs against their schemas; absent: unchecked. */
  readonly check?: AnswerChecks | undefined;
  readonly edits?: readonly ContextEdit[] | undefined;
  readonly sentTurns?: readonly Turn[] | undefined;
  readonly numCtx: number | null;
  /**
   * Runs only while no other job waits or runs. If another job needs its slot, it ends with `cancelled` although its
   * signal has not fired; submit it again.
   */
  readonly isBackground?: boolean | undefined;
  /** Milliseconds; Infinity: until the memory is needed; 0: unload at once; null: default. */
  readonly keepAliveMs: number | null;
}

export interface ResidencyStatus {
  readonly modelId: string;
  readonly engine: string;
  readonly place?: string | undefined;
  readonly kind: ModelKind;
  readonly state: 'loading' | 'ready' | 'draining';
  readonly facts: ResidencyFacts | null;
  readonly planned: Memory;
  readonly cache?: CacheTiers | undefined;
  /** KV cells in use; a prefix shared by slots counts in each. */
  readonly cellsUsed?: number | undefined;
  readonly running: number;
  readonly queued: number;
  /** Unix milliseconds of its unload if no job arrives; null: never or busy. */
  readonly expiresAtMs: number | null;
  /** Unix milliseconds: start of its load, then end of its load. */
  readonly sinceMs: number;
  /** Unix milliseconds. */
  readonly lastUsedMs: number;
  /** 1: evicted first when another model needs memory. Null: already ending, or no memory here. */
  readonly evictionRank: number | null;
}

export interface UpstreamStatus {
  readonly name: string;
  /** Null for engines that this service runs or starts. */
  readonly dialect: string | null;
  readonly privacy: string;
  readonly state: 'ready' | 'busy' | 'down';
  readonly why: string | null;
  readonly untilMs: number | null;
  readonly inFlight: number;
  readonly load: {
    readonly running: number | null;
    readonly waiting: number | null;
    readonly capacity: number | null;
    /** 0 to 1. */
    readonly kvUse: number | null;
  } | null;
  /** Moving average of the time to first token, milliseconds; null: no answer yet. */
  readonly firstTokenMs: number | null;
  readonly requests: number;
  readonly failures: Readonly<Record<string, number>>;
  /** Requests sent to another upstream because this upstream was too busy, although it knew their prompts. */
  readonly spills: number;
  readonly affinityHits: number;
  readonly failovers: number;
  readonly resumptions: number;
}

export interface LoadForecast {
  readonly loaded: boolean;
  readonly planned: Memory;
  readonly slots: number;
  /** Tokens per request; null: unknown until the model is loaded. */
  readonly window: number | null;
  readonly evicts: readonly string[];
}

export type QueueFull = DetailOf<'queue_full'>;

export interface Engine {
  /**
   * Events begin with any number of `queued`; aborting the signal ends the job with `cancelled`. The listener is
   * never called from inside this call.
   */
  submit(submission: Submission, signal: AbortSignal, listener: JobListener): void;
  residencies(): readonly ResidencyStatus[];
  /**
   * Error for one more chat of this client; null: it may wait, possibly in place of a client with more waiting jobs.
   */
  queueFull(clientKey: string): QueueFull | null;
  plan(target: ModelTarget, numCtx: number | null): LoadForecast;
  /** Unloads as soon as running jobs end; false if the model is not loaded. */
  unload(modelId: string): Promise<boolean>;
  watchSlots(onSlots: ((modelId: string, slots: SlotStates) => void) | null): void;
  drain(graceMs: number): Promise<void>;
}

/** Never contains text. */
export interface WatchedJob {
  readonly jobId: string;
  readonly kind: Job['kind'];
  readonly modelId: string;
  readonly clientName: string;
  readonly place?: string | undefined;
  readonly isFrozen: boolean;
}

export interface OpenJob extends WatchedJob {
  /** Unix milliseconds. */
  readonly submittedMs: number;
  readonly waiting: { readonly position: number; readonly reason: string } | null;
  readonly running: RunningJob | null;
}

interface RunningJob {
  /** Unix milliseconds. */
  readonly sinceMs: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly numCtx: number;
  /** Unix milliseconds; null before the first text. */
  readonly firstTextMs: number | null;
}

export interface FinishedLoad {
  readonly modelId: string;
  readonly ms: number;
  readonly failure: string | null;
}

/** Observer for metrics and displays; it decides nothing and must not throw. */
export interface EngineObserver {
  watchJob(job: WatchedJob): JobListener;
  onChange?(): void;
  onLoad?(load: FinishedLoad): void;
  onGone?(modelId: string, reason: string | null): void;
}
