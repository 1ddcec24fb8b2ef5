/**
 * The one loop that owns the context. Each step evaluates one token of every decoding sequence, and then at most one
 * bounded piece of prompt. Jobs join and leave between steps. It knows generations and sequences; not templates, not
 * the wire.
 *
 * A step:
 *   1. let go of cancelled jobs
 *   2. give waiting jobs a free sequence, with as much reused state as possible
 *   3. plan the rows: decode rows with guesses and fillers, prompt slices within the budget
 *   4. evaluate the decode rows, sample as far as guesses were right, and send what was said
 *   5. evaluate the slices, and sample where a prompt ends
 *
 * The slices are a native call of their own: llama.cpp reads the weights once per length of rows anyway, and a decode
 * row that waits for the first row of a slice costs more than one by itself (measured).
 */
import { fail } from '../../lib/errors/svc-error.ts';
import { evaluateRows, type Row } from './evaluate.ts';
import { Generation } from './generation.ts';
import type { ChatModel } from '../model.ts';
import type { Outbox } from '../outbox.ts';
import type { PreparedChat } from '../prepare.ts';
import type { Placement } from './prompt-cache.ts';
import { Running } from './running.ts';
import { type LoopCost, Sequences } from './sequences.ts';
import { type PlannedRow, StepPlanner } from './planning/step-planner.ts';
import { Waiting } from './waiting.ts';

export class BatchLoop {
  readonly #chat: ChatModel;
  readonly #outbox: Outbox;
  readonly #sequences: Sequences;
  readonly #planner: StepPlanner;
  readonly #waiting: Waiting;
  readonly #running = new Map<string, Running>();
  #turning = false;
  #steps = 0;

  constructor(chat: ChatModel, outbox: Outbox) {
    this.#chat = chat;
    this.#outbox = outbox;
    this.#sequences = new Sequences(chat);
    this.#planner = new StepPlanner(chat, this.#sequences);
    this.#waiting = new Waiting(this.#sequences);
  }

  /** Steps begun so far; a watchdog can tell standstill from silence by it. */
  get steps(): number {
    return this.#steps;
  }

  get idle(): boolean {
    return !this.#turning;
  }

  /** How long a prompt would be now, and where it would be placed; changes nothing. */
  preview(prepared: PreparedChat): { promptTokens: number; placement: Placement | null } {
    const prompt = this.#inCachedTokens(prepared);
    return { promptTokens: prompt.length, placement: this.#sequences.preview(prompt, this.#cost()) };
  }

  submit(prepared: PreparedChat): void {
    const { job, answer, numCtx } = prepared;
    const prompt = this.#inCachedTokens(prepared);
    const { vocabulary } = this.#chat;
    this.#waiting.push(new Generation({ job, prompt, answer, numCtx, vocabulary }));
    if (this.#turning) this.#waiting.sawCompany();
    else void this.#turn();
  }

  /** False when the job is not here. Takes effect at the next step. */
  cancel(jobId: string): boolean {
    const found = this.#running.get(jobId)?.generation ?? this.#waiting.find(jobId);
    if (found === undefined) return false;
    found.cancelled = true;
    return true;
  }

  /** The same text in the tokens of a sequence that holds its beginning, unless they are more and take room from the answer. */
  #inCachedTokens({ job, tokens, numCtx }: PreparedChat): Uint32Array {
    const cached = this.#sequences.known(tokens, this.#chat.vocabulary);
    const fits = cached.length <= tokens.length || cached.length + (job.maxTokens ?? 1) <= numCtx;
    return fits ? cached : tokens;
  }

  async #turn(): Promise<void> {
    this.#turning = true;
    try {
      await this.#waiting.gather(this.#cost, this.#planner.msPerToken);
      while (this.#waiting.size + this.#running.size > 0) {
        await this.#step();
        await this.#outbox.drained();
      }
      this.#outbox.flush();
    } catch (error) {
      this.#failAll(error);
    } finally {
      this.#turning = false;
    }
  }

  async #step(): Promise<void> {
    this.#releaseCancelled();
    await this.#placeWaiting();
    const { decodeRows, slices } = this.#planner.plan([...this.#running.values()]);
    if (decodeRows.length + slices.length === 0) return;
    this.#steps++;
    if (decodeRows.length > 0) {
      const ms = await this.#evaluate(decodeRows, this.#planner.expectedMs(decodeRows));
      this.#planner.sawDecode(decodeRows, ms);
    }
    if (slices.length > 0) {
      // Nothing waits for a call that reads a prompt; that can take long.
      const ms = await this.#evaluate(slices, Number.POSITIVE_INFINITY);
      this.#planner.sawSlices(slices, ms);
    }
  }

  /** One native call and what follows from it; returns its milliseconds. */
  async #evaluate(rows: readonly PlannedRow[], expectedMs: number): Promise<number> {
    this.#outbox.beforeWork(expectedMs);
    const started = performance.now();
    await evaluateRows(
      this.#chat.context,
      rows.map(({ row }) => row),
      {
        onEvaluated: () => this.#outbox.atRest(),
        onResult: async (row, result) => {
          const owner = rows.find((planned) => planned.row === row)?.owner;
          if (owner === undefined) return this.#sequences.forgetBeyond(row.sequence);
          if ('error' in result) {
            if (!result.restored) await this.#sequences.empty(row.sequence);
            return this.#fail(owner, result.error);
          }
          await this.#advance(owner, row, result.logitRows);
        },
      },
    );
    return performance.now() - started;
  }

  #releaseCancelled(): void {
    for (const running of this.#running.values()) {
      if (running.generation.cancelled) this.#fail(running, cancelled());
    }
    for (const { jobId } of this.#waiting.take((generation) => generation.cancelled)) {
      this.#outbox.failed(jobId, cancelled());
    }
  }

  async #placeWaiting(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const reading = [...this.#running.values()].filter((running) => !running.promptDone);
    await this.#waiting.place(reading, this.#cost, {
      begin: (generation, placement) => this.#begin(generation, placement),
      failed: ({ jobId }, error) => this.#outbox.failed(jobId, error),
    });
  }

  #begin(generation: Generation, placement: Placement): void {
    const running = new Running(this.#chat.model, this.#chat.vocabulary, generation, placement);
    generation.cachedTokens = placement.keep;
    this.#running.set(generation.jobId, running);
    const started = {
      type: 'started',
      promptTokens: generation.prompt.length,
      cachedTokens: placement.keep,
      numCtx: generation.numCtx,
    } as const;
    this.#outbox.event(generation.jobId, started, true);
  }

  readonly #cost = (): LoopCost => this.#planner.cost(this.#waiting.size);

  /** A sequence's row was evaluated: go on with its prompt, or sample what comes next. */
  async #advance(running: Running, row: Row, logitRows: readonly number[]): Promise<void> {
    const guessed = row.guessed ?? 0;
    this.#keep(running, row.tokens.subarray(0, row.tokens.length - guessed));
    if (running.promptDone && running.wasPrompt(row)) await this.#sequences.promptEvaluated(row.sequence);
    try {
      await this.#sample(running, row.tokens.subarray(row.tokens.length - guessed), logitRows);
      if (running.promptDone && running.generation.finishReason !== null) this.#finish(running);
    } catch (error) {
      this.#fail(running, error);
    }
  }

  /** One token for each row of logits, as long as the guess in the next row is what was sampled. */
  async #sample(running: Running, guesses: Uint32Array, logitRows: readonly number[]): Promise<void> {
    let right = 0;
    try {
      for (const logitRow of logitRows) {
        const sampled = await running.sample(this.#chat.context, logitRow);
        const first = running.generation.tokens.length === 0;
        for (const event of running.accept(sampled)) this.#outbox.event(running.jobId, event, first);
        if (guesses[right] !== sampled.token || running.generation.finishReason !== null) return;
        this.#keep(running, guesses.subarray(right, ++right));
      }
    } finally {
      running.sawDraft(guesses.length, right);
      if (guesses.length > 0) this.#sequences.forgetBeyond(running.sequence);
    }
  }

  #keep(running: Running, tokens: Uint32Array): void {
    this.#sequences.evaluated(running.sequence, tokens);
    running.evaluated(tokens.length);
  }

  #finish(running: Running): void {
    this.#outbox.event(running.jobId, running.doneEvent(), true);
    this.#letGo(running);
  }

  #fail(running: Running, error: unknown): void {
    this.#letGo(running);
    this.#outbox.failed(running.jobId, error);
  }

  #letGo(running: Running): void {
    this.#running.delete(running.jobId);
    this.#sequences.release(running.sequence, this.#steps);
    running.dispose();
  }

  /** Only a defect of the loop itself comes here; no job may be left without its last word. */
  #failAll(error: unknown): void {
    for (const running of this.#running.values()) this.#fail(running, error);
    for (const { jobId } of this.#waiting.take(() => true)) this.#outbox.failed(jobId, error);
  }
}

function cancelled(): Error {
  return fail('cancelled');
}
