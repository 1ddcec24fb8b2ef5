/** The compiled child process behind the server's own WorkerHost, with what tests of llama.cpp ask of it. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeTinyChat } from '../../../tools/models/tiny-chat.ts';
import type { FromWorker, ToWorker } from '../../../src/contract/ipc.ts';
import type { EmbedJob, GenerateJob, Job, PinJob, RankJob, TokenizeJob } from '../../../src/contract/job.ts';
import type {
  DoneEvent,
  EmbeddingEvent,
  JobEvent,
  PinnedEvent,
  ScoreEvent,
} from '../../../src/contract/job-event.ts';
import type { BackendFacts, LoadedFacts, LoadSpec } from '../../../src/contract/load.ts';
import type { CacheTiers, SlotStates } from '../../../src/contract/slots.ts';
import { launch } from '../../../src/server/engine/local/child/launch.ts';
import { DEFAULT_WORKER_LIMITS } from '../../../src/server/engine/local/limits.ts';
import { WorkerHost } from '../../../src/server/engine/local/worker-host.ts';
import { systemClock } from '../../../src/lib/base/clock.ts';
import { EventQueue } from '../../../src/lib/base/event-queue.ts';
import type { Logger } from '../../../src/lib/base/logger.ts';
import { builtDist } from '../process/hearth.ts';
import { embedJob, explainJob, generateJob, loadSpec, newJobId, rankJob } from './jobs.ts';

/** The tests of the engine wait for the child itself: nothing ends it for being slow, and no ping falls between calls. */
const HOUR_MS = 3_600_000;
const PATIENT = {
  ...DEFAULT_WORKER_LIMITS,
  bootMs: HOUR_MS,
  heartbeatMs: HOUR_MS,
  silenceMs: HOUR_MS,
  stallMs: HOUR_MS,
  graceMs: HOUR_MS,
  saveMs: HOUR_MS,
};
const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface ChildOptions {
  /** Words before `node`. */
  readonly launcher?: readonly string[];
  /** Where libraries of its own are. */
  readonly libraries?: string;
}

export class TestWorker {
  readonly child: ChildProcess;
  /** Resolves when the process is gone. */
  readonly exited: Promise<unknown>;
  readonly #host: WorkerHost;
  readonly #open = new Map<string, AbortController>();

  constructor({ launcher = [], libraries }: ChildOptions = {}) {
    const childPath = join(builtDist, 'worker', 'main.js');
    if (!existsSync(childPath)) throw new Error(`${childPath} is missing; run: npm run build`);
    const hostEnv = { PATH: process.env['PATH'] };
    const { stderrChars } = PATIENT;
    const launched = launch({
      childPath,
      hostEnv,
      gpu: 'off',
      libraries,
      launcher,
      stderrChars,
      log: silent,
    });
    this.child = launched.child;
    this.#host = new WorkerHost(launched, { limits: PATIENT, clock: systemClock, log: silent });
    this.exited = this.#host.gone;
  }

  booted(): Promise<BackendFacts> {
    return this.#host.booted;
  }

  load(fields: Partial<LoadSpec> & Pick<LoadSpec, 'path'>): Promise<LoadedFacts> {
    return this.#host.load(loadSpec(fields), new AbortController().signal);
  }

  /** Starts with the first event that is asked for. A reader that leaves does not cancel the job. */
  async *run(job: Job): AsyncGenerator<JobEvent> {
    const queue = new EventQueue<JobEvent>();
    const cancelling = new AbortController();
    this.#open.set(job.jobId, cancelling);
    this.#host.run(job, cancelling.signal, {
      onEvent: (event) => queue.push(event),
      onEnd: (failure) => {
        this.#open.delete(job.jobId);
        if (failure === null) queue.end();
        else queue.fail(failure);
      },
    });
    yield* queue;
  }

  /** What the slots do, as the child reports it; null: no more. */
  watchSlots(onSlots: ((slots: SlotStates) => void) | null): void {
    this.#host.watchSlots(onSlots);
  }

  /** What the child keeps of prompts beside its slots, as it said last. */
  get cacheTiers(): CacheTiers | undefined {
    return this.#host.cacheTiers;
  }

  cancel(jobId: string): void {
    const cancelling = this.#open.get(jobId);
    if (cancelling === undefined) throw new Error(`${jobId} is not open`);
    cancelling.abort();
  }

  async generate(fields: Partial<GenerateJob>): Promise<Answer> {
    return collect(this.run(generateJob(fields)));
  }

  async embed(fields: Pick<EmbedJob, 'inputs'> & Partial<EmbedJob>): Promise<EmbeddingEvent[]> {
    const events: EmbeddingEvent[] = [];
    for await (const event of this.run(embedJob(fields))) if (event.type === 'embedding') events.push(event);
    return events.toSorted((a, b) => a.index - b.index);
  }

  async rank(fields: Pick<RankJob, 'query' | 'documents'> & Partial<RankJob>): Promise<ScoreEvent[]> {
    const events: ScoreEvent[] = [];
    for await (const event of this.run(rankJob(fields))) if (event.type === 'score') events.push(event);
    return events.toSorted((a, b) => a.index - b.index);
  }

  async explain(fields: Partial<GenerateJob>): Promise<Extract<JobEvent, { type: 'explained' }>> {
    for await (const event of this.run(explainJob(fields))) if (event.type === 'explained') return event;
    throw new Error('nothing was explained');
  }

  async tokenize(fields: Pick<TokenizeJob, 'text'> & Partial<TokenizeJob>) {
    const job = { addSpecial: false, parseSpecial: false, withPieces: false, ...fields };
    for await (const event of this.run({ kind: 'tokenize', jobId: newJobId(), ...job }))
      if (event.type === 'tokenized') return event;
    throw new Error('nothing was tokenised');
  }

  async detokenize(tokens: number[]) {
    for await (const event of this.run({ kind: 'detokenize', jobId: newJobId(), tokens }))
      if (event.type === 'detokenized') return event;
    throw new Error('nothing was detokenised');
  }

  /** Pins what the latest chat of a trust domain began with, or ends a pin. */
  async pin(fields: Partial<PinJob> = {}): Promise<PinnedEvent> {
    for await (const event of this.run({ kind: 'pin', jobId: newJobId(), domain: '', ...fields }))
      if (event.type === 'pinned') return event;
    throw new Error('nothing was pinned');
  }

  /** Steps of the batch loop so far, as the child answers a ping. The host itself counts its pings from one. */
  async steps(): Promise<number> {
    const pong = new Promise<number | undefined>((resolve) => {
      const listen = (message: FromWorker): void => {
        if (message.type !== 'pong' || message.nonce !== 0) return;
        this.child.off('message', listen);
        resolve(message.steps);
      };
      this.child.on('message', listen);
    });
    this.child.send({ type: 'ping', nonce: 0 } satisfies ToWorker);
    const died = this.exited.then(() => Promise.reject(new Error('the child ended before it answered')));
    return (await Promise.race([pong, died])) ?? 0;
  }

  /** As before an unload: what is idle goes to the disk. */
  save(): Promise<void> {
    return this.#host.save();
  }

  end(): Promise<void> {
    return this.#host.end();
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}

/** A worker that is to load a model. */
export async function bootWorker(options: ChildOptions = {}): Promise<TestWorker> {
  const worker = new TestWorker(options);
  await worker.booted();
  return worker;
}

/** A worker with the tiny chat model, in a folder that ends with it. */
export async function startTinyChat(
  load: Partial<LoadSpec>,
  options: ChildOptions = {},
): Promise<{ readonly worker: TestWorker; readonly end: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-tiny-'));
  const path = join(folder, 'tiny.gguf');
  await writeTinyChat(path);
  const worker = await bootWorker(options);
  await worker.load({ path, ...load });
  return {
    worker,
    end: async () => {
      await worker.end();
      await rm(folder, { recursive: true });
    },
  };
}

export interface Answer {
  readonly text: string;
  readonly events: readonly JobEvent[];
  readonly done: DoneEvent;
}

export async function collect(events: AsyncIterable<JobEvent>): Promise<Answer> {
  const all: JobEvent[] = [];
  for await (const event of events) all.push(event);
  const done = all.at(-1);
  if (done?.type !== 'done') throw new Error('the job did not end with done');
  return { text: all.map((event) => (event.type === 'text' ? event.text : '')).join(''), events: all, done };
}

/** Every log probability that an answer reports, chosen tokens and alternatives, in order. */
export function logprobsOf({ events }: Answer): number[] {
  return events
    .flatMap((event) => (event.type === 'text' ? (event.tokens ?? []) : []))
    .flatMap(({ chosen, top }) => [chosen.logprob, ...top.map(({ logprob }) => logprob)]);
}
