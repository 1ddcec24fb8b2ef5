/**
 * An engine that plays what a test wrote instead of running a model, so that transcripts and faults are exact.
 * It checks every job against the engine's own schema, because nothing outside its ranges may reach a worker.
 */
import { createHash } from 'node:crypto';
import { Check, Errors } from 'typebox/value';
import type {
  Engine,
  JobListener,
  LoadForecast,
  QueueFull,
  Submission,
} from '../../../src/server/engine/ports.ts';
import { type GenerateJob, Job, type ScoredPrompt, type TextOrIds } from '../../../src/contract/job.ts';
import type { FinishReason, JobEvent } from '../../../src/contract/job-event.ts';
import { fail } from '../../../src/lib/errors/svc-error.ts';

/** An event is passed on, an error ends the job, a promise is waited for (a gate that the test opens). */
export type Step = JobEvent | Error | Promise<unknown>;
export type Script = readonly Step[] | ((submission: Submission) => readonly Step[]);

/** One job as the engine got it. */
export interface Played {
  readonly submission: Submission;
  readonly signal: AbortSignal;
  /** Resolves when the signal of the job fires. */
  readonly aborted: Promise<void>;
  readonly ended: Promise<'complete' | 'failed' | 'aborted'>;
}

export class ScriptedEngine implements Engine {
  readonly played: Played[] = [];
  /** Jobs that the schema of the engine does not allow; tests expect none. */
  readonly invalidJobs: string[] = [];
  /** False where the test is about the work of the service alone. */
  checksJobs = true;
  /** What a plan says of every model. */
  isLoaded = true;
  /** The length of a conversation and its window; null: explanations are played like everything else. */
  sizes: ((job: GenerateJob) => { readonly promptTokens: number; readonly numCtx: number }) | null = null;
  readonly unloaded: string[] = [];
  readonly #scripts: Script[] = [];
  readonly #waiting: ((played: Played) => void)[] = [];

  /** What the next jobs play, in order; without one a job answers with a greeting or with vectors. */
  plays(...scripts: Script[]): this {
    this.#scripts.push(...scripts);
    return this;
  }

  /** What was not played yet is not played any more. */
  forgetScripts(): void {
    this.#scripts.length = 0;
  }

  /** The next job that is submitted from now on. */
  nextJob(): Promise<Played> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  get lastJob(): Played {
    const last = this.played.at(-1);
    if (!last) throw new Error('no job was submitted');
    return last;
  }

  submit(submission: Submission, signal: AbortSignal, listener: JobListener): void {
    this.#check(submission.job);
    const { job } = submission;
    const size = job.kind === 'explain' ? this.sizes?.(job.job) : undefined;
    const script = size === undefined ? (this.#scripts.shift() ?? usualScript) : [{ ...EXPLAINED, ...size }];
    const steps = typeof script === 'function' ? script(submission) : script;
    const ended = withResolvers<Awaited<Played['ended']>>();
    const aborted = withResolvers<void>();
    if (signal.aborted) aborted.resolve();
    else signal.addEventListener('abort', () => aborted.resolve(), { once: true });
    const played = { submission, signal, aborted: aborted.promise, ended: ended.promise };
    this.played.push(played);
    this.#waiting.shift()?.(played);
    void playSteps(steps, { signal, aborted: aborted.promise }, listener).then(ended.resolve);
  }

  /** The answer to whether the queue is full. */
  full: QueueFull | null = null;

  queueFull(): QueueFull | null {
    return this.full;
  }

  residencies(): [] {
    return [];
  }

  plan(): LoadForecast {
    return { planned: [], slots: 4, window: 512, loaded: this.isLoaded, evicts: [] };
  }

  async unload(modelId: string): Promise<boolean> {
    this.unloaded.push(modelId);
    return true;
  }

  watchSlots(): void {}

  async drain(): Promise<void> {}

  #check(job: unknown): void {
    if (!this.checksJobs || Check(Job, job)) return;
    this.invalidJobs.push(JSON.stringify([...Errors(Job, job)].slice(0, 3)));
  }
}

async function playSteps(
  steps: readonly Step[],
  { signal, aborted }: { readonly signal: AbortSignal; readonly aborted: Promise<void> },
  listener: JobListener,
): Promise<Awaited<Played['ended']>> {
  try {
    for (const step of steps) {
      // Between two steps whoever listens may abort.
      await (step instanceof Promise ? Promise.race([step, aborted]) : undefined);
      if (signal.aborted) throw fail('cancelled');
      if (step instanceof Error) throw step;
      if (!(step instanceof Promise)) listener.onEvent(step);
    }
  } catch (error) {
    // Looked at first, as whoever hears of a failure aborts the rest.
    const how = signal.aborted ? 'aborted' : 'failed';
    listener.onEnd(error as Error);
    return how;
  }
  listener.onEnd(null);
  return 'complete';
}

export const started = (numCtx = 4096, promptTokens = 7): JobEvent => ({
  type: 'started',
  promptTokens,
  cachedTokens: 0,
  numCtx,
});

export const text = (piece: string): JobEvent => ({ type: 'text', text: piece });

export const queued = (position: number, reason = 'another answer is running'): JobEvent => ({
  type: 'queued',
  position,
  reason,
});

export const done = (finishReason: FinishReason = 'stop', completionTokens = 2): JobEvent => ({
  type: 'done',
  finishReason,
  usage: { promptTokens: 7, cachedTokens: 3, completionTokens, reasoningTokens: 0 },
  timings: { prefillMs: 4, decodeMs: 2 },
});

/** A whole answer in these pieces. */
export const answer = (...pieces: string[]): Step[] => [
  started(),
  ...pieces.map(text),
  done('stop', pieces.length),
];

/** Never ends by itself. */
export const forEver = (): Promise<unknown> => new Promise(() => {});

/** A gate: the job waits at `opened` until the test calls `open`. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

const EXPLAINED = {
  type: 'explained',
  renderedPrompt: 'Hello',
  promptTokens: 7,
  cachedTokens: 0,
  sequence: 0,
  numCtx: 4096,
  toolFormat: 'envelope',
} as const satisfies JobEvent;

function usualScript({ job }: Submission): Step[] {
  switch (job.kind) {
    case 'embed':
      return vectors(job.inputs);
    case 'tokenize':
      return [{ type: 'tokenized', tokens: Uint32Array.from(Buffer.from(job.text)) }];
    case 'detokenize':
      return [{ type: 'detokenized', text: Buffer.from(job.tokens).toString() }];
    case 'explain':
      return [
        job.wantsTokens === true
          ? { ...EXPLAINED, tokens: Uint32Array.from(Buffer.from('Hello')) }
          : EXPLAINED,
      ];
    case 'generate':
      if (job.scoredPrompt !== undefined && job.prompt.kind === 'tokens')
        return scoredTokens(job.prompt.tokens, job.scoredPrompt);
      return answer('Hello', ' there', '.');
    default:
      return answer('Hello', ' there', '.');
  }
}

/** Tokens of a prompt of bytes, the larger the less likely. */
function scoredTokens(tokens: readonly number[], { from }: ScoredPrompt): Step[] {
  const scored = tokens.slice(from).map((id, at) => ({
    id,
    text: String.fromCharCode(id % 128),
    bytes: [id % 128],
    score: from + at === 0 ? null : { logprob: -id / 100, rank: 1, top: [] },
  }));
  const parts = Array.from({ length: Math.ceil(scored.length / 64) }, (_, part) =>
    scored.slice(part * 64, part * 64 + 64),
  );
  return [
    started(),
    ...parts.map((part): Step => ({ type: 'prompt_tokens', tokens: part })),
    done('length', 0),
  ];
}

/** Vectors of the inputs, the last one first: order is the business of the service. */
export function vectors(inputs: readonly TextOrIds[]): Step[] {
  const events = inputs.map(
    (input, index): JobEvent => ({
      type: 'embedding',
      index,
      vector: vectorOf(input),
      tokens: 2,
      truncated: false,
    }),
  );
  return [started(512), ...events.reverse(), { type: 'embedded', totalTokens: 2 * inputs.length }];
}

/** A unit vector that depends on nothing but the text. */
export function vectorOf(input: TextOrIds): Float32Array {
  const vector = new Float32Array(768);
  const seed = createHash('sha256').update(String(input)).digest();
  for (let at = 0; at < vector.length; at += 1) vector[at] = Math.sin((seed[at % 32] ?? 0) * (at + 1)) + 0.01;

  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
