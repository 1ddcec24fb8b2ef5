/**
 * engine owns the server side of running jobs: which models are in memory, whose turn it is, what came of each job.
 * Its ports are here. api/ calls `Engine`; each kind of engine is a folder that implements `Backend`, and app.ts hands
 * it to the scheduler. The ports speak of capabilities: only a kind itself knows of files, processes or KV bytes, and
 * engine knows nothing of HTTP, wire shapes or the registry.
 */
import type { Job, Turn } from '../contract/job.ts';
import type { DetailOf } from '../lib/errors/catalogue.ts';
import type { SvcError } from '../lib/errors/svc-error.ts';
import type { JobEvent } from '../contract/job-event.ts';
import type { ModelKind } from '../contract/load.ts';
import type { DeviceBytes } from '../contract/memory.ts';
import type { CacheTiers, SlotStates } from '../contract/slots.ts';
import type { SamplingOption } from '../contract/sampling-shapes.ts';
import type { Privacy } from '../contract/settings/privacy.ts';

/** Receives the events of one job in order, then exactly one end. It must not throw. */
export interface JobListener {
  onEvent(event: JobEvent): void;
  /** Null: the job is complete and its last event was its final one. */
  onEnd(failure: Error | null): void;
  /** Resolves when the reader has caught up; undefined, or absent: it has. A backend that can hold its source back waits. */
  room?(): Promise<void> | undefined;
}

export type Medium = 'image' | 'audio';

/** Options of a request that an engine may ignore. */
export type IdleOption = SamplingOption | 'numCtx' | 'keepAlive' | 'thinkingBudget';

/** Abilities of a model that depend on its engine. */
export interface Capabilities {
  /** Answers in mode frozen-v1. */
  readonly canFreeze: boolean;
  /** Explains a request without running it: renders and counts. */
  readonly canExplain: boolean;
  /** Reads text as tokens and tokens as text. */
  readonly canTokenize: boolean;
  /** Scores pairs of a query and a document (job kind `rank`); it gives no vectors. */
  readonly canRank: boolean;
  /** Continues a begun answer without repeating it; absent: cannot. */
  readonly canContinue?: boolean;
  /** The media that it takes; absent: none. */
  readonly media?: readonly Medium[];
  /** Options without effect; absent: none. */
  readonly idle?: ReadonlySet<IdleOption>;
  /** Draws a seed if a request names none. */
  readonly drawsSeed?: boolean;
}

/** Each says in `privacyOf` how far its requests go. */
export type EngineKind = 'local' | 'remote' | 'command' | 'pool';

/** A model as the scheduler sees it. */
export interface ModelTarget {
  readonly modelId: string;
  readonly kind: ModelKind;
  /** The backend that runs it; a pool is resolved before. */
  readonly engine: EngineKind;
  /** The name of the upstream or of the command that runs it; absent: a worker of this service. */
  readonly place?: string;
  /** The farthest that a request for it may go, where its user set a limit. */
  readonly farthest?: Privacy;
  readonly capabilities: Capabilities;
  /** Trained window, tokens; the most that num_ctx can be. */
  readonly trainedCtx: number;
  /** The window when a request names none; null: the plan of a load chooses it (engine/scheduler/memory-plan.ts). */
  readonly defaultCtx: number | null;
  /** Changes when the id comes to mean other weights; what is in memory serves its own revision only. */
  readonly revision: string;
  /** Data for the backend that loads it; opaque to all others. */
  readonly source: unknown;
}

/** Size of a load: the window of each slot, and the jobs that run together. */
export interface LoadSize {
  /** Tokens. */
  readonly numCtx: number;
  readonly slots: number;
  /** Tokens that all slots hold together, at least one window; a backend whose slots share nothing gives each its own. */
  readonly cells: number;
}

/** Bytes on one device: the memory of the machine, or that of a GPU. */
export interface DeviceMemory {
  readonly device: string;
  readonly bytes: number;
  /** The device in whose memory this one computes; the bytes are counted there too. */
  readonly within?: string;
}

/** Each device once. */
export type Memory = readonly DeviceMemory[];

/** The result of a load. The size may be less than what was asked for. */
export interface ResidencyFacts extends LoadSize {
  /** Memory that it counts for from now on, instead of the planned one. */
  readonly memory: Memory;
  /** Measured memory, including buffers that no step has touched yet. */
  readonly measured?: Memory;
  /** Memory by purpose, where the engine reports it. */
  readonly parts?: readonly DeviceBytes[];
  /** Further figures for people, by name; the engine ignores them. */
  readonly details?: Readonly<Record<string, number>>;
}

export interface LoadedModel {
  readonly facts: ResidencyFacts;
  /**
   * Runs a job; aborting the signal stops it within one step. The listener is never called from inside this call.
   * When the model is lost, every open job fails with `worker_crashed` or `worker_hung`. The route is for engines
   * elsewhere.
   */
  run(job: Job, signal: AbortSignal, listener: JobListener, route?: Route): void;
  /** Reports the state of each slot, now and after each change; null: stop. Absent: its slots are invisible. */
  watchSlots?(onSlots: ((slots: SlotStates) => void) | null): void;
  /** Prompt state kept in addition to its slots; undefined, or absent: none. */
  cacheTiers?(): CacheTiers | undefined;
  /** Tokens whose state its slots hold. Absent, or undefined: unknown. */
  cellsUsed?(): number | undefined;
  /** Resolves when its memory is free. Safe to call twice. */
  unload(): Promise<void>;
  /** Resolves when the model is out of memory for whatever reason; `reason` is null after unload(). */
  readonly gone: Promise<{ readonly reason: string | null }>;
}

/** One kind of engine. It makes no decisions about models; the scheduler does. */
export interface Backend {
  /** Memory of a load of this size; null: it takes no memory that is planned here. */
  memoryNeed(target: ModelTarget, size: LoadSize): Memory | null;
  /** False: `measure` would make `memoryNeed` know better. Absent: it always knows. */
  isMeasured?(target: ModelTarget): boolean;
  /** Resolves when there is nothing more to find out, even after a failure; never rejects. */
  measure?(target: ModelTarget): Promise<void>;
  /** Rejects with SvcError; after `out_of_memory` the need of that size is known to be larger. */
  load(target: ModelTarget, size: LoadSize, signal: AbortSignal): Promise<LoadedModel>;
  /** Ends everything that it has loaded. */
  close(): Promise<void>;
}

/** A job that may run, with the callbacks of its gate. */
export interface AdmittedJob {
  readonly job: Job;
  /** It must stay on this machine, whatever its request says. */
  readonly isLocalOnly?: boolean;
  /** Called before the client receives the event; a refusal ends the job instead. */
  onEvent(event: JobEvent): SvcError | null;
  /** The job is over, however it ended. */
  onEnd(): void;
}

/** Bounds what one client may run. */
export interface JobGate {
  /** Throws the refusal of a job that may not run. */
  admit(submission: Submission): AdmittedJob;
}

/** Checks of the answers of a request. */
export interface AnswerChecks {
  /** Called with the milliseconds that a check took. */
  onCheck?(ms: number): void;
}

/** Condition of an edit: more than this number of tokens, this share of the window, or this number of tool calls. */
export interface Trigger {
  readonly of: 'tokens' | 'window' | 'calls';
  readonly value: number;
}

export interface ClearResults {
  readonly kind: 'results';
  readonly trigger: Trigger;
  /** The latest results stay. */
  readonly keep: number;
  /** Results are cleared in groups of this size: cleared text stays unchanged for a while, and so does the prompt. */
  readonly step: number;
  /** Nothing is cleared for less. */
  readonly atLeastTokens: number;
  /** Names of tools whose results stay. */
  readonly exclude: readonly string[];
  /** Arguments of the same calls as well: of all tools, or of these. */
  readonly clearsInputs: boolean | readonly string[];
}

export interface ClearThinking {
  readonly kind: 'thinking';
  /** The latest turns of the model that keep theirs. */
  readonly keep: number;
}

export interface Summarise {
  readonly kind: 'summary';
  readonly trigger: Trigger;
  /** Replaces all turns but the first and the last words of the user. */
  readonly ofAll?: boolean;
  readonly instructions?: string;
}

export type ContextEdit = ClearResults | ClearThinking | Summarise;

/** The upstream of a request, and which one failed before, if any. */
interface Answering {
  readonly name: string;
  readonly insteadOf?: string;
  readonly because?: string;
}

/** Routing of a request to another engine; local models ignore it. */
export interface Route {
  /** Headers of W3C Trace Context, as the client sent them. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** The conversation of the request, if the client names it. */
  readonly session?: string | undefined;
  /** It must not leave this machine. */
  readonly isLocalOnly?: boolean | undefined;
  /** Another engine with the same weights may continue its answer. */
  readonly mayResume?: boolean | undefined;
  /** Time that the client waits for the whole answer, milliseconds. */
  readonly patienceMs?: number | undefined;
  /** Called for each upstream before it gets the request. */
  readonly onSent?: (upstream: Answering) => void;
}

export interface Submission {
  readonly target: ModelTarget;
  readonly job: Job;
  readonly route?: Route | undefined;
  /** Fairness is per client; any stable string. */
  readonly clientKey: string;
  /** Display name of the client; absent: none. */
  readonly clientName?: string;
  /** Checked before the job runs; absent: the client has no bounds. */
  readonly gate?: JobGate;
  /** Answers of chat jobs are checked against the schemas of their tools and formats; absent: they pass unchecked. */
  readonly check?: AnswerChecks | undefined;
  /** Edits that shorten a conversation before it runs, in order; absent: none. */
  readonly edits?: readonly ContextEdit[] | undefined;
  /** The conversation as the client sent it, where the job has a shorter one. */
  readonly sentTurns?: readonly Turn[] | undefined;
  /** The requested window, or null. */
  readonly numCtx: number | null;
  /**
   * It runs only while no other job waits or runs. Where another needs its slot, it ends with `cancelled` although its
   * signal has not fired; submit it again.
   */
  readonly isBackground?: boolean | undefined;
  /** Milliseconds to keep the model after this job; Infinity: until its memory is needed; 0: unload at once; null: the default. */
  readonly keepAliveMs: number | null;
}

/** One loaded or loading model, as `hearth ps` shows it. */
export interface ResidencyStatus {
  readonly modelId: string;
  readonly engine: string;
  readonly place?: string | undefined;
  readonly kind: ModelKind;
  readonly state: 'loading' | 'ready' | 'draining';
  readonly facts: ResidencyFacts | null;
  /** Memory that the load was planned with. */
  readonly planned: Memory;
  /** Prompt state in addition to its slots; absent: none. */
  readonly cache?: CacheTiers | undefined;
  /** KV cells with the state of a token; a beginning that slots share counts in each. */
  readonly cellsUsed?: number | undefined;
  readonly running: number;
  readonly queued: number;
  /** Unix milliseconds when it will be unloaded if nothing comes; null: never or busy. */
  readonly expiresAtMs: number | null;
  /** Unix milliseconds when its load began, and once that is over, when it ended. */
  readonly sinceMs: number;
  /** Unix milliseconds. */
  readonly lastUsedMs: number;
  /** 1: it is the first that would be unloaded if another model needed its memory now. Null: it is going anyway, or holds none here. */
  readonly evictionRank: number | null;
}

/** A service that runs models, or this service where it is one of several, as `hearth ps` shows it. */
export interface UpstreamStatus {
  readonly name: string;
  /** Its dialect; null for engines that this service runs or starts itself. */
  readonly dialect: string | null;
  readonly privacy: string;
  readonly state: 'ready' | 'busy' | 'down';
  /** Reason why it is not ready. */
  readonly why: string | null;
  /** Monotonic milliseconds when `busy` ends, or when one that is down may be tried; null: ready. */
  readonly untilMs: number | null;
  /** Requests of this server. */
  readonly inFlight: number;
  /** Its reported load; null: it reports none, or was not asked yet. */
  readonly load: {
    readonly running: number | null;
    readonly waiting: number | null;
    readonly capacity: number | null;
    /** 0 to 1. */
    readonly kvUse: number | null;
  } | null;
  /** Moving average of the time to the first words, milliseconds; null: none came yet. */
  readonly firstTokenMs: number | null;
  /** Counts since the start of the server. */
  readonly requests: number;
  readonly failures: Readonly<Record<string, number>>;
  /** Requests that another upstream got because this one was too busy, although it knew their prompts. */
  readonly spills: number;
  /** Requests that went there because it knew their prompts or had their sessions. */
  readonly affinityHits: number;
  /** Requests that failed there before the first byte and went to another upstream. */
  readonly failovers: number;
  /** Answers that failed there in the middle and were continued by another upstream. */
  readonly resumptions: number;
}

export interface LoadForecast {
  /** The model is in memory already, with room for the window. */
  readonly loaded: boolean;
  readonly planned: Memory;
  readonly slots: number;
  /** The window of one request, tokens; null: it is only known once the model is loaded. */
  readonly window: number | null;
  /** The ids that would be unloaded to make room. */
  readonly evicts: readonly string[];
}

/** The detail of the refusal `queue_full`. */
export type QueueFull = DetailOf<'queue_full'>;

export interface Engine {
  /**
   * Admits, waits, loads, runs. Events begin with any number of `queued`; aborting the signal ends the job with
   * `cancelled`. The listener is never called from inside this call.
   */
  submit(submission: Submission, signal: AbortSignal, listener: JobListener): void;
  residencies(): readonly ResidencyStatus[];
  /**
   * The refusal of one more chat of this client; null: it may wait, possibly in place of a client with more waiting
   * jobs.
   */
  queueFull(clientKey: string): QueueFull | null;
  /** Forecast for a job of this target; loads and evicts nothing. */
  plan(target: ModelTarget, numCtx: number | null): LoadForecast;
  /** Unloads when idle, or as soon as its running jobs end; resolves false when it is not loaded. */
  unload(modelId: string): Promise<boolean>;
  /** Reports the slots of every loaded model from now on; null: stop. One watcher at a time. */
  watchSlots(onSlots: ((modelId: string, slots: SlotStates) => void) | null): void;
  /** Refuses new work, lets running jobs finish for at most `graceMs`, then ends everything. */
  drain(graceMs: number): Promise<void>;
}

/** Facts of a job for observers: never its text. */
export interface WatchedJob {
  readonly jobId: string;
  readonly kind: Job['kind'];
  readonly modelId: string;
  readonly clientName: string;
  readonly place?: string | undefined;
  /** It runs in the frozen lane. */
  readonly isFrozen: boolean;
}

/** A job that has not ended, as people see it. */
export interface OpenJob extends WatchedJob {
  /** Unix milliseconds. */
  readonly submittedMs: number;
  /** Queue position and reason; null once it runs. */
  readonly waiting: { readonly position: number; readonly reason: string } | null;
  /** Its model; null while it waits. */
  readonly running: RunningJob | null;
}

/** A job at work. */
interface RunningJob {
  /** Unix milliseconds. */
  readonly sinceMs: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly numCtx: number;
  /** Unix milliseconds of its first text; null before. */
  readonly firstTextMs: number | null;
}

export interface FinishedLoad {
  readonly modelId: string;
  readonly ms: number;
  /** The code of its failure, or null. */
  readonly failure: string | null;
}

/** Watches the engine, for figures and for people; it decides nothing and must not throw. */
export interface EngineObserver {
  /** The listener receives all events of the client's listener, before it. */
  watchJob(job: WatchedJob): JobListener;
  /** A model began to load, was loaded, or left; or one of its jobs began or ended. */
  onChange?(): void;
  onLoad?(load: FinishedLoad): void;
  /** A loaded model was removed; `reason` is null when it was asked to end. */
  onGone?(modelId: string, reason: string | null): void;
}
