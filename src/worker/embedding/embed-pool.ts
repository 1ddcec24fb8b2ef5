/**
 * worker/embedding owns embed jobs; it does not know chats. Inputs of all jobs are computed together, as many as fit
 * one step; each has a sequence of its own, and no token looks at another sequence.
 */
import type { EmbedJob, Job } from '../../contract/job.ts';
import { normalise } from '../../lib/base/vector.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { type EmbedInput, embedInputs } from './embed-input.ts';
import { handleMessages } from '../event-loop.ts';
import type { EmbeddingModel } from '../model.ts';
import { type StepInput, takeStep } from './step-inputs.ts';
import type { Outbox } from '../outbox.ts';

/** Vectors leave at least this often: a long list shows progress. */
const FLUSH_MS = 50;

interface OpenJob {
  readonly job: EmbedJob;
  readonly inputs: EmbedInput[];
  totalTokens: number;
  unfinished: number;
  over: boolean;
}

export class EmbedPool {
  readonly #model: EmbeddingModel;
  readonly #outbox: Outbox;
  /** Jobs with inputs not yet begun, in turn. */
  readonly #queue: OpenJob[] = [];
  readonly #open = new Map<string, OpenJob>();
  #turning = false;
  #flushedMs = 0;
  #steps = 0;

  constructor(model: EmbeddingModel, outbox: Outbox) {
    this.#model = model;
    this.#outbox = outbox;
  }

  /** Steps computed so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Throws when an input is refused; then nothing of the job runs. */
  submit(job: Job): void {
    if (job.kind !== 'embed') {
      throw fail('wrong_model_kind', {
        kind: 'embedding',
        model: this.#model.spec.modelId,
        use: 'chat completions',
        wanted: 'chat',
      });
    }
    const inputs = embedInputs(this.#model.vocabulary, job, this.#model.limit);
    const open: OpenJob = { job, inputs, totalTokens: 0, unfinished: inputs.length, over: false };
    this.#open.set(job.jobId, open);
    if (inputs.length === 0) this.#close(open);
    else this.#queue.push(open);
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
    const limits = { sequences: this.#model.sequences, tokens: this.#model.stepTokens };
    for (;;) {
      // Requests that arrived together are computed together.
      await handleMessages();
      await this.#outbox.drained();
      const step = takeStep(this.#queue, limits).filter(({ source }) => !source.over);
      if (step.length > 0) this.#compute(step);
      else if (this.#queue.length === 0) break;
    }
    this.#turning = false;
  }

  #compute(step: readonly StepInput<OpenJob>[]): void {
    this.#steps += 1;
    try {
      this.#evaluate(step);
    } catch (error) {
      for (const { source } of step) this.#fail(source, error);
      return;
    }
    for (const [sequence, { source, input }] of step.entries()) {
      try {
        this.#tell(source, input, unitVector(this.#model.context.embedding(sequence), input));
      } catch (error) {
        this.#fail(source, error);
      }
    }
  }

  #evaluate(step: readonly StepInput<OpenJob>[]): void {
    const { context } = this.#model;
    context.initBatch(step.reduce((sum, { input }) => sum + input.tokens.length, 0));
    for (const [sequence, { input }] of step.entries()) {
      // Decoder models keep earlier inputs in their KV cache.
      context.clearSequence(sequence);
      context.addToBatch(sequence, 0, input.tokens, Uint32Array.of(input.tokens.length - 1));
    }
    context.decodeBatch();
  }

  #tell(open: OpenJob, input: EmbedInput, vector: Float32Array): void {
    if (open.over) return;
    open.unfinished -= 1;
    for (const index of input.indexes) {
      open.totalTokens += input.tokens.length;
      this.#outbox.event(open.job.jobId, {
        type: 'embedding',
        index,
        vector,
        tokens: input.tokens.length,
        truncated: input.truncated,
      });
    }
    if (open.unfinished === 0) this.#close(open);
    else if (performance.now() - this.#flushedMs > FLUSH_MS) this.#flush();
  }

  #close(open: OpenJob): void {
    open.over = true;
    this.#open.delete(open.job.jobId);
    this.#outbox.event(open.job.jobId, { type: 'embedded', totalTokens: open.totalTokens });
    this.#flush();
  }

  #fail(open: OpenJob, error: unknown): void {
    if (open.over) return;
    open.over = true;
    this.#open.delete(open.job.jobId);
    this.#outbox.failed(open.job.jobId, error);
  }

  #flush(): void {
    this.#flushedMs = performance.now();
    this.#outbox.flush();
  }
}

/** A job has up to thousands of inputs, so the failure names the one whose vector is no vector. */
function unitVector(values: Float32Array, { indexes }: EmbedInput): Float32Array {
  try {
    return normalise(values);
  } catch (cause) {
    throw new Error(`the embedding of input ${indexes[0]} is not finite`, { cause });
  }
}
