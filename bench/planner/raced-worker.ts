/** One real worker with one step planner, and what a stream of it is measured by. */
import path from 'node:path';
import type { EmbedJob, GenerateJob } from '../../src/contract/job.ts';
import type { LoadSpec, PlannerChoice } from '../../src/contract/load.ts';
import { launch } from '../../src/server/engine/local/child/launch.ts';
import { DEFAULT_WORKER_LIMITS } from '../../src/server/engine/local/limits.ts';
import { WorkerHost } from '../../src/server/engine/local/worker-host.ts';
import { systemClock } from '../../src/lib/base/clock.ts';
import type { Logger } from '../../src/lib/base/logger.ts';
import { text } from '../words.ts';

export interface Race {
  readonly file: string;
  readonly threads: number;
  readonly numCtx: number;
  /** Sequences of the context: more than the streams, as in a server that has been running. */
  readonly sequences: number;
}

export interface StreamMeasure {
  readonly firstTokenMs: number;
  /** Between two arrivals of text; the worker sends the tokens of several steps as one message. */
  readonly gapsMs: readonly number[];
  readonly tokens: number;
  /** Prompt tokens whose state was in no cache. */
  readonly evaluatedTokens: number;
  readonly text: string;
}

export interface AnswerOptions {
  readonly maxTokens: number;
  /** 0 is greedy: the random model then repeats itself, which drafts profit from. */
  readonly temperature: number;
  readonly stop?: readonly string[];
  readonly onFirstToken?: () => void;
}

export interface RacedWorker {
  /** Text of about so many tokens; every other seed shares no long prefix. */
  textOf(tokens: number, seed: number): string;
  answer(prompt: string, options: AnswerOptions): Promise<StreamMeasure>;
  /** Milliseconds until the vectors of all texts are there; for embedding models. */
  embed(texts: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** How a worker differs from the usual one of a race. */
export interface WorkerOptions {
  readonly planner?: PlannerChoice;
  readonly spec?: Partial<LoadSpec>;
  /** Words before `node`, such as `env NAME=value`. */
  readonly launcher?: readonly string[];
}

/** Arrivals closer than this came in one message. */
const SAME_MESSAGE_MS = 1;

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function startWorker(race: Race, options: WorkerOptions): Promise<RacedWorker> {
  const limits = DEFAULT_WORKER_LIMITS;
  const launched = launch({
    childPath: path.resolve('dist', 'worker', 'main.js'),
    hostEnv: process.env,
    gpu: 'off',
    launcher: options.launcher ?? [],
    stderrChars: limits.stderrChars,
    log: silent,
  });
  const host = new WorkerHost(launched, { limits, clock: systemClock, log: silent });
  await host.booted;
  const spec = specFor(race, options);
  await host.load(spec, new AbortController().signal);
  const tokensPerWord = spec.kind === 'chat' ? await measureWords(host) : 1;
  return {
    textOf: (tokens, seed) => text(Math.max(1, Math.round(tokens / tokensPerWord)), seed),
    answer: (prompt, options) => answer(host, prompt, options),
    embed: (texts) => embed(host, texts),
    close: () => host.end(),
  };
}

function specFor({ file, threads, numCtx, sequences }: Race, { planner, spec }: WorkerOptions): LoadSpec {
  return {
    modelId: 'bench',
    path: file,
    digest: null,
    kind: 'chat',
    numCtx,
    cells: numCtx,
    parallel: sequences,
    threads,
    tunedThreads: null,
    settings: {},
    experts: null,
    adapters: [],
    draft: null,
    draftTokens: 15,
    ...(planner !== undefined && { planner }),
    ...spec,
  };
}

/** Vocabularies differ by a factor of four in what they make of the same words, so the model is asked. */
async function measureWords(host: WorkerHost): Promise<number> {
  const [few, many] = [20, 120];
  const extra = (await countTokens(host, text(many, 7))) - (await countTokens(host, text(few, 7)));
  return extra / (many - few);
}

function countTokens(host: WorkerHost, prompt: string): Promise<number> {
  const job = jobOf(prompt, { maxTokens: 1, temperature: 0 });
  return new Promise((resolve, reject) => {
    host.run({ kind: 'explain', jobId: `explain-${job.jobId}`, job }, new AbortController().signal, {
      onEvent: (event) => {
        if (event.type === 'explained') resolve(event.promptTokens);
      },
      onEnd: (failure) => reject(failure ?? new Error('the worker explained nothing')),
    });
  });
}

let jobs = 0;

function answer(host: WorkerHost, prompt: string, options: AnswerOptions): Promise<StreamMeasure> {
  const begunMs = performance.now();
  const arrivals: number[] = [];
  let answered = '';
  let tokens = 0;
  let evaluatedTokens = 0;
  return new Promise((resolve, reject) => {
    host.run(jobOf(prompt, options), new AbortController().signal, {
      onEvent: (event) => {
        if (event.type === 'started') evaluatedTokens = event.promptTokens - event.cachedTokens;
        if (event.type === 'done') tokens = event.usage.completionTokens;
        if (event.type !== 'text') return;
        answered += event.text;
        const nowMs = performance.now();
        if (arrivals.length === 0) options.onFirstToken?.();
        if (nowMs - (arrivals.at(-1) ?? 0) > SAME_MESSAGE_MS) arrivals.push(nowMs);
      },
      onEnd: (failure) => {
        if (failure !== null) return reject(failure);
        const gapsMs = arrivals.slice(1).map((at, i) => at - (arrivals[i] ?? at));
        resolve({
          firstTokenMs: (arrivals[0] ?? performance.now()) - begunMs,
          gapsMs,
          tokens,
          evaluatedTokens,
          text: answered,
        });
      },
    });
  });
}

function embed(host: WorkerHost, texts: readonly string[]): Promise<number> {
  const begunMs = performance.now();
  jobs += 1;
  const job: EmbedJob = { kind: 'embed', jobId: `race-${jobs}`, inputs: [...texts], truncate: true };
  return new Promise((resolve, reject) => {
    host.run(job, new AbortController().signal, {
      onEvent: () => undefined,
      onEnd: (failure) => (failure === null ? resolve(performance.now() - begunMs) : reject(failure)),
    });
  });
}

function jobOf(text: string, { maxTokens, temperature, stop = [] }: AnswerOptions): GenerateJob {
  jobs += 1;
  return {
    kind: 'generate',
    jobId: `race-${jobs}`,
    prompt: { kind: 'text', text },
    tools: [],
    toolChoice: { mode: 'none' },
    format: { kind: 'text' },
    reasoning: {},
    adapters: [],
    sampling: temperature === 0 ? { temperature } : { temperature, seed: jobs },
    maxTokens,
    numCtx: null,
    stop: [...stop],
    topLogprobs: null,
    templateClockMs: null,
    lane: 'shared',
  };
}
