/** Forks the compiled child process and talks to it as the server does. For tests of the real engine. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EventQueue } from '../../../src/lib/base/event-queue.ts';
import { writeTinyChat } from '../../../tools/models/tiny-chat.ts';
import type { FromWorker, IpcFailure, ToWorker } from '../../../src/contract/ipc.ts';
import type { EmbedJob, ExplainJob, GenerateJob, Job } from '../../../src/contract/job.ts';
import type { DoneEvent, EmbeddingEvent, JobEvent } from '../../../src/contract/job-event.ts';
import type { BackendFacts, LoadedFacts, LoadSpec } from '../../../src/contract/load.ts';

/** HEARTH_TEST_DIST lets a test run against another build. */
const dist = process.env['HEARTH_TEST_DIST'] ?? fileURLToPath(new URL('../../../dist', import.meta.url));

/** A job failed in the child. */
export class JobFailure extends Error {
  readonly failure: IpcFailure;
  constructor(failure: IpcFailure) {
    super(`${failure.code} ${JSON.stringify(failure.detail)}`);
    this.failure = failure;
  }
}

export class TestWorker {
  readonly child: ChildProcess;
  readonly messages: FromWorker[] = [];
  readonly #listeners = new Set<(message: FromWorker) => void>();
  readonly #jobs = new Map<string, EventQueue<JobEvent>>();
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  stderr = '';

  constructor(env: Record<string, string> = {}) {
    const childPath = `${dist}/worker/main.js`;
    if (!existsSync(childPath)) throw new Error(`${childPath} is missing; run: npm run build`);
    this.child = fork(childPath, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // One thread for native calls, as chat has on two cores: whatever needs a second one would stand still here.
      env: {
        PATH: process.env['PATH'],
        SVC_GPU: 'off',
        GGML_NO_BACKTRACE: '1',
        UV_THREADPOOL_SIZE: '1',
        ...env,
      },
    });
    this.child.stderr?.on('data', (chunk) => {
      this.stderr += String(chunk);
    });
    this.child.on('message', (message) => this.#receive(message as FromWorker));
    this.exited = new Promise((resolve) => {
      this.child.on('exit', (code, signal) => {
        for (const queue of this.#jobs.values()) queue.fail(new Error(`the child ended: ${code ?? signal}`));
        resolve({ code, signal });
      });
    });
  }

  send(message: ToWorker): void {
    this.child.send(message);
  }

  /** The next message that passes; rejects when the child ends first. */
  async next<T extends FromWorker>(pick: (message: FromWorker) => message is T): Promise<T> {
    const found = new Promise<T>((resolve) => {
      const listener = (message: FromWorker): void => {
        if (!pick(message)) return;
        this.#listeners.delete(listener);
        resolve(message);
      };
      this.#listeners.add(listener);
    });
    const ended = this.exited.then(({ code, signal }) => {
      throw new Error(`the child ended (${code ?? signal}): ${this.stderr}`);
    });
    return Promise.race([found, ended]);
  }

  async booted(): Promise<BackendFacts> {
    const known = this.messages.find(isBoot);
    const message = known ?? (await this.next(isBoot));
    if (message.type === 'boot_failed') throw new Error(message.reason);
    return message.backend;
  }

  async load(spec: Partial<LoadSpec> & Pick<LoadSpec, 'path'>): Promise<LoadedFacts> {
    const outcome = this.next(isLoad);
    this.send({ type: 'load', spec: { ...DEFAULT_SPEC, ...spec } });
    const message = await outcome;
    if (message.type === 'load_failed') throw new JobFailure(message.failure);
    return message.facts;
  }

  async *run(job: Job): AsyncGenerator<JobEvent> {
    const queue = new EventQueue<JobEvent>();
    this.#jobs.set(job.jobId, queue);
    this.send({ type: 'start', job });
    yield* queue;
  }

  async generate(fields: Partial<GenerateJob>): Promise<Answer> {
    return collect(this.run(generateJob(fields)));
  }

  async embed(fields: Pick<EmbedJob, 'inputs'> & Partial<EmbedJob>): Promise<EmbeddingEvent[]> {
    const job: EmbedJob = { kind: 'embed', jobId: newJobId(), truncate: false, ...fields };
    const events: EmbeddingEvent[] = [];
    for await (const event of this.run(job)) if (event.type === 'embedding') events.push(event);
    return events.toSorted((a, b) => a.index - b.index);
  }

  async explain(fields: Partial<GenerateJob>): Promise<Extract<JobEvent, { type: 'explained' }>> {
    const job: ExplainJob = { kind: 'explain', jobId: newJobId(), job: generateJob(fields) };
    for await (const event of this.run(job)) if (event.type === 'explained') return event;
    throw new Error('nothing was explained');
  }

  async ping(nonce: number): Promise<Extract<FromWorker, { type: 'pong' }>> {
    const pong = this.next(
      (m): m is Extract<FromWorker, { type: 'pong' }> => m.type === 'pong' && m.nonce === nonce,
    );
    this.send({ type: 'ping', nonce });
    return pong;
  }

  async end(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.exited;
  }

  #receive(message: FromWorker): void {
    this.messages.push(message);
    if (message.type === 'events') {
      for (const { jobId, event } of message.events) {
        const queue = this.#jobs.get(jobId);
        queue?.push(event);
        if (['done', 'embedded', 'explained'].includes(event.type)) queue?.end();
      }
    }
    if (message.type === 'failed') this.#jobs.get(message.jobId)?.fail(new JobFailure(message.failure));
    for (const listener of this.#listeners) listener(message);
  }
}

/** A worker with the tiny chat model, in a folder of its own that ends with it. */
export async function startTinyChat(
  load: Partial<LoadSpec>,
  env: Record<string, string> = {},
): Promise<{ readonly worker: TestWorker; readonly end: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-tiny-'));
  const path = join(folder, 'tiny.gguf');
  await writeTinyChat(path);
  const worker = new TestWorker(env);
  await worker.booted();
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

let jobs = 0;

export function newJobId(): string {
  jobs += 1;
  return `job-${jobs}`;
}

/** A greedy chat job; any field can be replaced. */
export function generateJob(fields: Partial<GenerateJob> = {}): GenerateJob {
  return {
    kind: 'generate',
    jobId: newJobId(),
    prompt: { kind: 'chat', turns: [{ role: 'user', content: 'hi' }] },
    tools: [],
    toolChoice: { mode: 'none' },
    format: { kind: 'text' },
    reasoning: {},
    sampling: { temperature: 0 },
    maxTokens: 16,
    numCtx: null,
    stop: [],
    topLogprobs: null,
    templateClockMs: null,
    lane: 'shared',
    ...fields,
  };
}

const DEFAULT_SPEC: LoadSpec = {
  modelId: 'test',
  path: '',
  digest: null,
  kind: 'chat',
  numCtx: 512,
  parallel: 4,
  threads: 1,
  tunedThreads: null,
  draftTokens: 15,
};

type Boot = Extract<FromWorker, { type: 'booted' | 'boot_failed' }>;
type Load = Extract<FromWorker, { type: 'loaded' | 'load_failed' }>;

function isBoot(message: FromWorker): message is Boot {
  return message.type === 'booted' || message.type === 'boot_failed';
}

function isLoad(message: FromWorker): message is Load {
  return message.type === 'loaded' || message.type === 'load_failed';
}

/** Every log probability that an answer reports, chosen tokens and alternatives, in order. */
export function logprobsOf({ events }: Answer): number[] {
  return events
    .flatMap((event) => (event.type === 'text' ? (event.tokens ?? []) : []))
    .flatMap(({ chosen, top }) => [chosen.logprob, ...top.map(({ logprob }) => logprob)]);
}
