/**
 * worker/embedding owns embed jobs; it does not know chats. They are computed on a few single-input contexts: several
 * inputs at once on one thread each, a lone one on all threads, which beats both one context with all threads and any
 * batch (measured). An input is always computed by itself, so its vector cannot depend on other inputs. Jobs take turns,
 * because a long list must not starve the others.
 */
import type { EmbedJob, Job } from '../../contract/job.ts';
import { normalise } from '../../lib/base/vector.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { type EmbedInput, embedInputs } from './embed-input.ts';
import type { NativeContext } from '../addon/native.ts';
import type { EmbeddingModel } from '../model.ts';
import { withWakeUps } from './wake-ups.ts';
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
  readonly #idle: NativeContext[];
  #flushedMs = 0;
  #steps = 0;

  constructor(model: EmbeddingModel, outbox: Outbox) {
    this.#model = model;
    this.#outbox = outbox;
    this.#idle = [...model.contexts];
  }

  /** Inputs computed so far. */
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
    this.#dispatch();
  }

  cancel(jobId: string): boolean {
    const open = this.#open.get(jobId);
    if (open === undefined) return false;
    this.#fail(open, fail('cancelled'));
    return true;
  }

  #dispatch(): void {
    while (this.#idle.length > 0) {
      const next = this.#nextInput();
      const context = next === null ? undefined : this.#idle.pop();
      if (next === null || context === undefined) return;
      void this.#compute(context, next.open, next.input);
    }
  }

  #nextInput(): { open: OpenJob; input: EmbedInput } | null {
    const open = this.#queue.shift();
    if (open === undefined) return null;
    const input = open.inputs.shift();
    if (input === undefined || open.over) return this.#nextInput();
    if (open.inputs.length > 0) this.#queue.push(open);
    return { open, input };
  }

  async #compute(context: NativeContext, open: OpenJob, input: EmbedInput): Promise<void> {
    const alone = this.#queue.length === 0 && this.#idle.length === this.#model.contexts.length - 1;
    try {
      const values = await embed(context, input.tokens, alone ? this.#model.threads : 1);
      this.#tell(open, input, unitVector(values, input));
    } catch (error) {
      this.#fail(open, error);
    }
    this.#steps += 1;
    await this.#outbox.drained();
    this.#idle.push(context);
    this.#dispatch();
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

async function embed(context: NativeContext, tokens: Uint32Array, threads: number): Promise<Float64Array> {
  context.setThreads(threads);
  // Decoder models keep the last input in their KV state.
  context.clearSequence(0);
  context.initBatch(tokens.length);
  context.addToBatch(0, 0, tokens, Uint32Array.of(tokens.length - 1));
  const work = context.decodeBatch();
  await (threads > 1 ? withWakeUps(work) : work);
  return context.embedding(tokens.length);
}

/** A job has up to thousands of inputs, so the failure names the one whose vector is no vector. */
function unitVector(values: Float64Array, { indexes }: EmbedInput): Float32Array {
  try {
    return normalise(values);
  } catch (cause) {
    throw new Error(`the embedding of input ${indexes[0]} is not finite`, { cause });
  }
}
