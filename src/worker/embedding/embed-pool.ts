/**
 * worker/embedding owns embed and rank jobs; it does not know chats. A step computes one input, or as many of all
 * jobs as fit (contexts.ts decides); each has a sequence of its own, and no token attends to another sequence. A
 * single input gets all threads; parallel inputs share them.
 */
import type { Job } from '../../contract/job.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { handleMessages } from '../event-loop.ts';
import type { EmbeddingContexts, EmbeddingModel } from '../model.ts';
import type { NativeContext } from '../native.ts';
import type { Outbox } from '../outbox.ts';
import type { EmbedInput } from './embed-input.ts';
import { ParallelInputs } from './parallel-inputs.ts';
import { type Step, takeStep } from './step-inputs.ts';
import { vectorsDepend } from './vector-trial.ts';
import { type Work, planWork } from './work.ts';

/** Longest time between vectors, so that a long list shows progress. */
const FLUSH_MS = 50;

interface OpenJob {
  readonly work: Work;
  readonly inputs: EmbedInput[];
  totalTokens: number;
  begunMs?: number;
  unfinished: number;
  over: boolean;
}

type PoolStep = Step<OpenJob, EmbeddingContexts>;

export class EmbedPool {
  readonly #model: EmbeddingModel;
  readonly #outbox: Outbox;
  readonly #queue: OpenJob[] = [];
  readonly #open = new Map<string, OpenJob>();
  /** Jobs with a record, until it is known whether they can have one. */
  readonly #unproven: OpenJob[] = [];
  #isProven = false;
  readonly #parallel: ParallelInputs;
  #wake: () => void = () => {};
  #turning = false;
  #flushedMs = 0;
  #steps = 0;

  constructor(model: EmbeddingModel, outbox: Outbox) {
    this.#model = model;
    this.#outbox = outbox;
    this.#parallel = new ParallelInputs(model.facts.threads);
  }

  get steps(): number {
    return this.#steps;
  }

  /** Throws if an input is refused; then nothing of the job runs. */
  submit(job: Job): void {
    const work = planWork(this.#model, job);
    const { inputs } = work;
    const open: OpenJob = { work, inputs, totalTokens: 0, unfinished: inputs.length, over: false };
    this.#open.set(job.jobId, open);
    if (inputs.length === 0) this.#close(open);
    else if (work.accounts === true && !this.#isProven) this.#unproven.push(open);
    else this.#queue.push(open);
    this.#wake();
    if (!this.#turning) void this.#turn();
  }

  cancel(jobId: string): boolean {
    const open = this.#open.get(jobId);
    if (open === undefined) return false;
    this.#fail(open, fail('cancelled'));
    return true;
  }

  async #turn(): Promise<void> {
    this.#turning = true;
    for (;;) {
      // Requests that arrived together are computed together.
      await handleMessages();
      await this.#outbox.drained();
      while (this.#unproven.length > 0) await this.#prove();
      const step = takeStep(this.#queue, this.#model.contexts);
      if (step !== null) await this.#place(step);
      else if (this.#parallel.steps > 0) await this.#change();
      else break;
    }
    this.#turning = false;
  }

  async #prove(): Promise<void> {
    while (this.#parallel.steps > 0) await this.#change();
    const jobs = this.#unproven.splice(0);
    this.#steps += 1;
    try {
      const reason = vectorsDepend(this.#model);
      if (reason !== null) throw fail('evidence_unavailable', { reason });
      this.#isProven = true;
      this.#queue.push(...jobs);
    } catch (error) {
      for (const open of jobs) this.#fail(open, error);
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  get #waiting(): number {
    return this.#queue.reduce((sum, { inputs }) => sum + inputs.length, 0);
  }

  async #place(step: PoolStep): Promise<void> {
    if (this.#parallel.takes(step, this.#waiting)) {
      while (!this.#parallel.hasRoom(step.limits)) await this.#change();
      begin(step);
      void this.#computeParallel(step);
    } else {
      while (this.#parallel.steps > 0) await this.#change();
      begin(step);
      this.#compute(step);
    }
  }

  #compute(step: PoolStep): void {
    const { context } = step.limits;
    this.#steps += 1;
    try {
      fill(context, step);
      context.decodeBatch();
    } catch (error) {
      this.#failAll(step, error);
      return;
    }
    this.#notifyAll(step, context);
  }

  async #computeParallel(step: PoolStep): Promise<void> {
    const place = this.#parallel.begin(step.limits, this.#waiting);
    const { context } = place;
    this.#steps += 1;
    try {
      context.setThreads(place.threads);
      fill(context, step);
      await context.decodeOnThread();
      this.#notifyAll(step, context);
    } catch (error) {
      this.#failAll(step, error);
    }
    this.#parallel.end(place);
    this.#wake();
  }

  #notifyAll({ inputs }: PoolStep, context: NativeContext): void {
    for (const [sequence, { source, input }] of inputs.entries()) {
      try {
        this.#tell(source, input, context.embedding(sequence));
      } catch (error) {
        this.#fail(source, error);
      }
    }
  }

  #tell(open: OpenJob, input: EmbedInput, values: Float32Array): void {
    if (open.over) return;
    const { work } = open;
    const events = work.toEvents(input, values);
    open.unfinished -= 1;
    open.totalTokens += input.tokens.length * events.length;
    for (const event of events) this.#outbox.event(work.jobId, event);
    if (open.unfinished === 0) this.#close(open);
    else if (performance.now() - this.#flushedMs > FLUSH_MS) this.#flush();
  }

  #close(open: OpenJob): void {
    const { work, totalTokens, begunMs } = open;
    const computeMs = begunMs === undefined ? 0 : performance.now() - begunMs;
    open.over = true;
    this.#open.delete(work.jobId);
    this.#outbox.event(work.jobId, work.ended({ totalTokens, computeMs }));
    this.#flush();
  }

  #fail(open: OpenJob, error: unknown): void {
    if (open.over) return;
    open.over = true;
    open.inputs.length = 0;
    this.#open.delete(open.work.jobId);
    this.#outbox.failed(open.work.jobId, error);
  }

  #failAll({ inputs }: PoolStep, error: unknown): void {
    for (const { source } of inputs) this.#fail(source, error);
  }

  #flush(): void {
    this.#flushedMs = performance.now();
    this.#outbox.flush();
  }
}

function begin({ inputs }: PoolStep): void {
  const nowMs = performance.now();
  for (const { source } of inputs) source.begunMs ??= nowMs;
}

function fill(context: NativeContext, { inputs }: PoolStep): void {
  context.initBatch(inputs.reduce((sum, { input }) => sum + input.tokens.length, 0));
  for (const [sequence, { input }] of inputs.entries()) {
    // Decoder models keep earlier inputs in their KV cache.
    context.clearSequence(sequence);
    context.addToBatch(sequence, 0, input.tokens, Uint32Array.of(input.tokens.length - 1));
  }
}
