/**
 * server/engine/local owns the parent side of the child process: forking, the IPC, signs of life, the memory that GGUF files
 * take. It knows nothing of queues or clients, and does not decide what is loaded (server/engine/scheduler does). One
 * process holds one model. A spare has already initialised the native library, which saves that time in a model
 * switch; there are two spares where chat and embedding models need thread pools of different sizes.
 */
import { sep } from 'node:path';
import type { Clock } from '../../../lib/base/clock.ts';
import type { Logger } from '../../../lib/base/logger.ts';
import type { Backend, LoadedModel, LoadSize, Memory, ModelTarget } from '../ports.ts';
import { MOST_DRAFT_TOKENS, MOST_EMBEDDING_JOBS } from '../../../contract/limits.ts';
import type { ModelFormatFacts } from '../../../contract/job-event.ts';
import type { BackendFacts, LoadSpec } from '../../../contract/load.ts';
import { workerSettings } from '../../../contract/settings/shapes.ts';
import {
  fail,
  isFailure,
  isSvcError,
  errorMessage,
  errorReason,
  type SvcError,
} from '../../../lib/errors/svc-error.ts';
import { launch, SEALED_SCRIPT, WORKER_SCRIPT, type WorkerSealing } from './child/launch.ts';
import { findLauncher } from './child/launcher.ts';
import { DEFAULT_WORKER_LIMITS, type WorkerLimits } from './limits.ts';
import { freeMemoryBytes } from './memory/free-memory.ts';
import { MemoryBook } from './memory/memory-book.ts';
import { processTuning, type Tuning } from './memory-need.ts';
import type { PinnedPrefix } from '../../../lib/prompt-cache/pin.ts';
import type { PromptCachePlan } from './prompt-cache-plan.ts';
import { extraFiles, isLocal, type LocalTarget } from './model-source.ts';
import { SpareWorkers } from './spare-workers.ts';
import { WorkerHost } from './worker-host.ts';

export interface LocalBackendOptions {
  readonly childPath?: string;
  /** The server's environment; only a few harmless variables pass on (child-environment.ts). */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly gpu: string;
  readonly libraries?: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs before each fork; rejects if the native files have changed since boot. */
  readonly backendGuard?: () => Promise<void>;
  readonly limits?: Partial<WorkerLimits>;
  readonly draftTokens?: number;
  readonly promptCache?: PromptCachePlan;
  readonly pins?: (modelId: string) => Promise<readonly PinnedPrefix[]>;
  readonly tuning?: Tuning;
  /** Sealing for the next worker; absent or null: not sealed. */
  readonly sealing?: () => Promise<WorkerSealing | null>;
  readonly freeHostBytes?: () => number;
  readonly onBooted?: (facts: BackendFacts) => void;
  readonly onLoaded?: (loaded: Loaded, facts: BackendFacts) => void;
  /** Called before a load while no model is loaded. Returns true if workers from now on use other libraries. */
  readonly betweenModels?: () => Promise<boolean>;
}

interface Loaded {
  readonly id: string;
  readonly path: string;
  readonly kind: 'chat' | 'embedding';
}

export interface LocalBackend extends Backend {
  freeMemory(): Memory;
  totalMemory(): Memory;
  prepare(): void;
  boot(): Promise<BackendFacts>;
  /** Format of a chat model, from its templates and vocabulary without its weights; null if unknown. */
  askFormat(target: ModelTarget): Promise<ModelFormatFacts | null>;
  /** Facts once a worker has booted, otherwise the reason for a failure; null if not known yet. */
  backendFacts(): BackendFacts | { readonly failed: string } | null;
}

export function createLocalBackend(options: LocalBackendOptions): LocalBackend {
  return new Workers(options);
}

class Workers implements LocalBackend {
  readonly #options: LocalBackendOptions;
  readonly #memory: MemoryBook;
  readonly #limits: WorkerLimits;
  #launcher: Promise<readonly string[]> | undefined;
  readonly #spares: SpareWorkers;
  readonly #workers = new Set<WorkerHost>();
  readonly #booted = new Set<WorkerHost>();
  readonly #readable = new WeakMap<WorkerHost, readonly string[]>();
  #inUse = 0;
  /** All models loaded at one time use the same libraries, because a record names one set for the service. */
  #changing: Promise<unknown> = Promise.resolve();
  #facts: BackendFacts | null = null;
  /** Failure of the last boot; no boot is tried before `untilMs` unless a worker serves. */
  #failure: { readonly error: BootFailure; readonly untilMs: number } | null = null;
  #closed = false;

  constructor(options: LocalBackendOptions) {
    this.#options = options;
    this.#memory = new MemoryBook({
      tuning: options.tuning ?? processTuning(),
      gpu: options.gpu,
      freeHostBytes: options.freeHostBytes ?? freeMemoryBytes,
    });
    this.#limits = { ...DEFAULT_WORKER_LIMITS, ...options.limits };
    this.#spares = new SpareWorkers({
      clock: options.clock,
      limits: this.#limits,
      boot: () => this.#boot(),
      mayBoot: () => !this.#closed && this.#refusal() === null,
      hasProof: () => this.#booted.size > 0,
      isBusy: () => [...this.#workers].some((worker) => worker.busy),
    });
  }

  backendFacts(): BackendFacts | { readonly failed: string } | null {
    if (this.#failure === null || this.#booted.size > 0) return this.#facts;
    return { failed: this.#failure.error.detail.reason };
  }

  prepare(): void {
    this.#spares.prepare();
  }

  boot(): Promise<BackendFacts> {
    return this.#spares.lend((worker) => worker.booted);
  }

  async askFormat(target: ModelTarget): Promise<ModelFormatFacts | null> {
    const local = asLocal(target);
    const { source } = local;
    await source.verify();
    const settings = workerSettings(source.settings);
    return this.#askAbout(local, (worker) =>
      worker.askFormat({ modelId: target.modelId, path: source.path, settings }),
    );
  }

  freeMemory(): Memory {
    return this.#memory.free();
  }

  totalMemory(): Memory {
    return this.#memory.total();
  }

  memoryNeed(target: ModelTarget, size: LoadSize): Memory {
    return this.#memory.need(asLocal(target), size);
  }

  isMeasured(target: ModelTarget): boolean {
    return this.#memory.isMeasured(asLocal(target));
  }

  async measure(target: ModelTarget): Promise<void> {
    const local = asLocal(target);
    const question = this.#memory.question(local);
    try {
      await local.source.verify();
      if (this.#closed || this.#refusal() !== null) return;
      const answer = await this.#askAbout(local, (worker) => worker.measure(question));
      this.#memory.estimated(local, question, answer);
    } catch (error) {
      this.#options.log.debug(
        { model: target.modelId, error },
        'The memory of a model could not be measured.',
      );
      // The load itself will report a changed file or a worker that did not start; another try may succeed.
      if (!isFailure(error, 'model_damaged', 'native_unavailable', 'files_changed'))
        this.#memory.estimated(local, question, null);
    }
  }

  async load(target: ModelTarget, size: LoadSize, signal: AbortSignal): Promise<LoadedModel> {
    const local = asLocal(target);
    await local.source.verify();
    const refusal = this.#refusal();
    if (this.#closed) throw fail('native_unavailable', { reason: 'the service is shutting down' });
    if (refusal !== null) throw refusal;
    if (signal.aborted) throw fail('cancelled');
    const worker = await this.#claimWorker(local);
    try {
      if (signal.aborted) throw fail('cancelled');
      return await this.#loadInto(worker, local, size, signal);
    } catch (error) {
      // The next load must find this memory free.
      await worker.end();
      throw error;
    } finally {
      this.#spares.replace();
    }
  }

  async #claimWorker(target: LocalTarget): Promise<WorkerHost> {
    this.#inUse += 1;
    const release = (): void => {
      this.#inUse -= 1;
    };
    if (this.#inUse === 1) this.#changing = this.#changeLibraries();
    try {
      await this.#changing;
      const worker = await this.#workerFor(target);
      void worker.gone.then(release);
      return worker;
    } catch (error) {
      release();
      throw error;
    }
  }

  async #changeLibraries(): Promise<void> {
    if ((await this.#options.betweenModels?.()) === true) await this.#spares.renew();
  }

  async #workerFor(target: LocalTarget): Promise<WorkerHost> {
    const worker = await this.#spares.take();
    if (this.#mayRead(worker, target)) return worker;
    await worker.end();
    return this.#boot();
  }

  #askAbout<T>(target: LocalTarget, ask: (worker: WorkerHost) => Promise<T>): Promise<T> {
    return this.#spares.lend(ask, (worker) => this.#mayRead(worker, target));
  }

  /** A sealed spare that started before the model was installed may not read its files. */
  #mayRead(worker: WorkerHost, { source }: LocalTarget): boolean {
    const readable = this.#readable.get(worker);
    if (readable === undefined) return true;
    const files = [source.path, ...extraFiles(source.attached)];
    return files.every((path) => readable.some((one) => isWithin(path, one)));
  }

  async #loadInto(
    worker: WorkerHost,
    target: LocalTarget,
    size: LoadSize,
    signal: AbortSignal,
  ): Promise<LoadedModel> {
    const known = this.#memory.recall(target);
    const spec: LoadSpec = {
      modelId: target.modelId,
      path: target.source.path,
      digest: target.source.digest,
      kind: target.kind,
      numCtx: size.numCtx,
      cells: size.cells,
      parallel: size.slots,
      threads: target.source.threads,
      // Only chat: the batch loop alone detects that a remembered count has become wrong.
      tunedThreads: target.kind === 'chat' ? (known?.threads ?? null) : null,
      draftTokens: target.source.settings.draftTokens ?? this.#options.draftTokens ?? MOST_DRAFT_TOKENS,
      settings: workerSettings(target.source.settings),
      experts: target.source.experts,
      ...target.source.attached,
    };
    const promptCache = target.kind === 'chat' ? this.#options.promptCache?.(target.source) : undefined;
    const pins = promptCache === undefined ? [] : await this.#readPins(target);
    const free = this.#memory.free();
    const facts = await worker
      .load({ ...spec, ...(promptCache && { promptCache: { ...promptCache, pins } }) }, signal)
      .catch((error: unknown) => {
        if (isFailure(error, 'out_of_memory')) this.#memory.refused(target, size, free);
        throw error;
      });
    const memory = this.#memory.loaded(target, facts);
    const { source, kind, modelId } = target;
    if (this.#facts !== null) this.#options.onLoaded?.({ id: modelId, path: source.path, kind }, this.#facts);
    this.#memory.hold(worker, memory);
    void worker.gone.then(() => this.#memory.release(worker));
    const { numCtx, sequences, threads } = facts;
    const slots = target.kind === 'embedding' ? MOST_EMBEDDING_JOBS : sequences;
    const cells = facts.cells ?? numCtx * sequences;
    const details = { threads, pid: worker.pid };
    worker.onThreads = (found) => {
      details.threads = found.threads;
      if (found.confirmed) this.#memory.confirmed(target, found.threads);
    };
    return {
      facts: {
        numCtx,
        slots,
        cells,
        memory,
        measured: memory,
        parts: facts.memory ?? [],
        details,
      },
      run: worker.run.bind(worker),
      watchSlots: worker.watchSlots.bind(worker),
      cacheTiers: () => worker.cacheTiers,
      cellsUsed: () => worker.cellsUsed,
      unload: () => end(worker),
      gone: worker.gone,
    };
  }

  async #readPins({ modelId }: LocalTarget): Promise<PinnedPrefix[]> {
    try {
      return [...((await this.#options.pins?.(modelId)) ?? [])];
    } catch (error) {
      this.#options.log.warn({ model: modelId, reason: errorMessage(error) }, 'No prompt stays pinned.');
      return [];
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#spares.close();
    await Promise.all([...this.#workers].map(end));
  }

  async #boot(): Promise<WorkerHost> {
    try {
      await this.#options.backendGuard?.();
      this.#launcher ??= findLauncher(process.platform);
      const launcher = await this.#launcher;
      if (this.#closed) throw fail('native_unavailable', { reason: 'the service is shutting down' });
      const sealing = (await this.#options.sealing?.()) ?? undefined;
      const worker = this.#fork(launcher, sealing);
      if (sealing !== undefined) this.#readable.set(worker, sealing.readable);
      this.#facts = await worker.booted;
      const isLoading = [...this.#workers].some((other) => other.loading);
      this.#memory.booted(this.#facts, isLoading);
      this.#failure = null;
      this.#options.onBooted?.(this.#facts);
      this.#booted.add(worker);
      void worker.gone.then(() => this.#booted.delete(worker));
      return worker;
    } catch (error) {
      const failure = bootFailure(error);
      if (!this.#closed) {
        // Logs each reason once, because the spare is retried for as long as a worker serves.
        const { reason } = failure.detail;
        if (reason !== this.#failure?.error.detail.reason)
          this.#options.log.error({ reason }, 'No worker could be started.');
        const untilMs = this.#options.clock.monotonicMs() + this.#limits.bootRetryMs;
        this.#failure = { error: failure, untilMs };
      }
      throw failure;
    }
  }

  #fork(launcher: readonly string[], sealing: WorkerSealing | undefined): WorkerHost {
    const script = sealing === undefined ? WORKER_SCRIPT : SEALED_SCRIPT;
    const { childPath = script, hostEnv, gpu, libraries, clock, log } = this.#options;
    const launched = launch({
      childPath,
      hostEnv,
      gpu,
      libraries,
      launcher,
      stderrChars: this.#limits.stderrChars,
      sealing,
      log,
    });
    const worker = new WorkerHost(launched, { limits: this.#limits, clock, log });
    this.#workers.add(worker);
    void worker.gone.then(() => this.#workers.delete(worker));
    return worker;
  }

  /** After a failed start, requests do not retry unless a running worker proves that the backend works. */
  #refusal(): BootFailure | null {
    if (this.#failure === null || this.#booted.size > 0) return null;
    return this.#options.clock.monotonicMs() < this.#failure.untilMs ? this.#failure.error : null;
  }
}

async function end(worker: WorkerHost): Promise<void> {
  await worker.save();
  await worker.end();
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}${sep}`);

function asLocal(target: ModelTarget): LocalTarget {
  if (!isLocal(target)) throw new Error(`model ${target.modelId} is of engine ${target.engine}`);
  return target;
}

type BootFailure = SvcError<'native_unavailable' | 'files_changed'>;

function bootFailure(error: unknown): BootFailure {
  if (isFailure(error, 'native_unavailable', 'files_changed')) return error;
  const said = errorMessage(error);
  return fail('native_unavailable', { reason: isSvcError(error) ? errorReason(error) : said }, error);
}
