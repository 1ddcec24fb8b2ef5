/**
 * The one loop that owns the context. Each step evaluates one token of every decoding sequence, and then at most one
 * bounded piece of prompt. Jobs join and leave between steps. It knows generations and sequences; not templates, not
 * the wire.
 *
 * A step:
 *   1. let go of cancelled jobs
 *   2. give waiting jobs a free sequence, with as much reused state as possible
 *   3. plan the rows: decode rows with fillers, prompt slices within the budget
 *   4. evaluate the decode rows, sample, and send what was said
 *   5. evaluate the slices, and sample where a prompt ends
 *
 * The slices are a native call of their own: llama.cpp reads the weights once per length of rows anyway, and a decode
 * row that waits for the first row of a slice costs more than one by itself (measured).
 */
import { fail } from '../errors/svc-error.ts';
import { readsFirst } from './burst.ts';
import { CHUNK_LIMITS, ChunkSize } from './chunk-size.ts';
import { evaluateRows, type Row } from './evaluate.ts';
import type { Generation } from './generation.ts';
import type { LoadedChat } from './load.ts';
import type { Outbox } from './outbox.ts';
import { type PaddedSlice, padSlices } from './pad-slices.ts';
import type { Placement } from './prompt-cache.ts';
import { fillers, slicePrompts } from './row-plan.ts';
import { Running } from './running.ts';
import { type LoopCost, Sequences } from './sequences.ts';
import { StepTimes } from './step-times.ts';
import { Waiting } from './waiting.ts';

/** Until a prompt has been read. */
const ASSUMED_MS_PER_TOKEN = 5;

export class BatchLoop {
  readonly #chat: LoadedChat;
  readonly #outbox: Outbox;
  readonly #sequences: Sequences;
  readonly #chunk = new ChunkSize();
  readonly #times = new StepTimes();
  readonly #padWithin: number;
  readonly #waiting: Waiting;
  readonly #running = new Map<string, Running>();
  #turning = false;
  #steps = 0;

  constructor(chat: LoadedChat, outbox: Outbox) {
    this.#chat = chat;
    this.#outbox = outbox;
    this.#sequences = new Sequences(chat);
    this.#waiting = new Waiting(this.#sequences);
    // A GPU has no such tiles, and a memory that cannot be cut cannot forget the padding.
    const paddable = chat.prefixReuse === 'full' && chat.facts.gpuLayers === 0;
    this.#padWithin = paddable ? chat.facts.numCtx : 0;
    const { threads, calibration } = chat.facts;
    const measured = calibration.find((tried) => tried.threads === threads);
    if (measured === undefined) return;
    this.#chunk.sawPlainStep(1000 / measured.tokensPerS);
    this.#times.sawStep([0], 1000 / measured.tokensPerS);
  }

  /** Steps begun so far; a watchdog can tell standstill from silence by it. */
  get steps(): number {
    return this.#steps;
  }

  get idle(): boolean {
    return !this.#turning;
  }

  /** The placement that a prompt would get now; changes nothing. */
  preview(prompt: Uint32Array): Placement | null {
    return this.#sequences.preview(prompt, this.#cost());
  }

  submit(generation: Generation): void {
    this.#waiting.push(generation);
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

  async #turn(): Promise<void> {
    this.#turning = true;
    try {
      await this.#waiting.gather(this.#cost, this.#chunk.msPerToken);
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
    const { decodeRows, slices } = this.#planRows();
    if (decodeRows.length + slices.length === 0) return;
    this.#steps++;
    if (decodeRows.length > 0) {
      const ms = await this.#evaluate(decodeRows, this.#times.stepMs(decodeRows.length));
      this.#chunk.sawPlainStep(ms);
      this.#times.sawStep(
        decodeRows.map(({ row }) => row.sequence),
        ms,
      );
    }
    if (slices.length > 0) {
      // Nothing waits for a call that reads a prompt; that can take long.
      const ms = await this.#evaluate(slices, Number.POSITIVE_INFINITY);
      const tokens = slices.reduce((sum, { row }) => sum + row.tokens.length + (row.padding ?? 0), 0);
      this.#chunk.sawPrefill(tokens, ms);
    }
  }

  /** One native call and what follows from it; returns its milliseconds. */
  async #evaluate(rows: readonly PlannedRow[], expectedMs: number): Promise<number> {
    this.#outbox.beforeWork(expectedMs);
    const started = performance.now();
    await evaluateRows(
      this.#chat.native,
      rows.map(({ row }) => row),
      {
        onEvaluated: () => this.#outbox.atRest(),
        onResult: async (row, result) => {
          const owner = rows.find((planned) => planned.row === row)?.owner;
          if (owner === undefined) return this.#sequences.forgetFiller(row.sequence);
          if ('error' in result) {
            if (!result.restored) await this.#sequences.empty(row.sequence);
            return this.#fail(owner, result.error);
          }
          this.#sequences.evaluated(row.sequence, row.tokens);
          await this.#advance(owner, row, result.row);
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

  get #rowMs(): number {
    return this.#chunk.msPerToken ?? ASSUMED_MS_PER_TOKEN;
  }

  readonly #cost = (): LoopCost => ({
    waiting: Math.max(1, this.#waiting.size),
    rowMs: this.#rowMs,
    stepMs: (rows) => this.#times.stepMs(rows),
  });

  #planRows(): { decodeRows: PlannedRow[]; slices: PlannedRow[] } {
    const all = [...this.#running.values()];
    const prefilling = all.filter((running) => !running.decoding);
    const ready = all.filter((running) => running.decoding);
    const pace = { msPerToken: this.#chunk.msPerToken, nowMs: performance.now() };
    const decoding = readsFirst(ready, prefilling, pace) ? [] : ready;
    const rows: PlannedRow[] = decoding.map((owner) => ({ owner, row: owner.decodeRow() }));
    const planned = this.#slices(prefilling, decoding.length > 0);
    for (const owner of prefilling) {
      const slice = planned.find(({ sequence }) => sequence === owner.sequence);
      if (slice === undefined) owner.passOver();
      else rows.push({ owner, row: owner.promptRow(slice.tokens, slice.padding) });
    }
    // The last token of a prompt that is known already costs what a decode row does.
    const decodeRows = rows.filter(({ row }) => isSingle(row));
    const slices = rows.filter(({ row }) => !isSingle(row));
    return { decodeRows: [...decodeRows, ...this.#fillers(decodeRows)], slices };
  }

  #slices(prefilling: readonly Running[], decoding: boolean): PaddedSlice[] {
    const waiting = prefilling.map((running) => running.promptWait);
    const budget = this.#chunk.budget(decoding);
    // Nothing comes on top of the budget as long as nobody knows what a row costs.
    const mostRows = this.#chunk.msPerToken === null ? budget : CHUNK_LIMITS.largest;
    const slices = slicePrompts(waiting, { budget, mostRows, idle: !decoding });
    return padSlices(slices, waiting, {
      mostRows,
      padWithin: this.#padWithin,
      rowMs: this.#rowMs,
      passMs: this.#times.stepMs(1),
    });
  }

  #fillers(decodeRows: readonly PlannedRow[]): PlannedRow[] {
    const ids = decodeRows.map(({ row }) => row.sequence).sort((a, b) => a - b);
    const filled = fillers(
      ids,
      (sequence) => this.#sequences.canFill(sequence),
      (rows) => this.#times.stepMs(rows),
    );
    return filled.map((sequence) => ({ owner: undefined, row: this.#sequences.fillerRow(sequence) }));
  }

  /** A sequence's row was evaluated: go on with its prompt, or sample its next token. */
  async #advance(running: Running, row: Row, batchRow: number): Promise<void> {
    running.evaluated(row);
    if (running.promptDone && running.wasPrompt(row)) await this.#sequences.promptEvaluated(row.sequence);
    if (!row.logits) {
      if (running.promptDone) this.#finish(running);
      return;
    }
    try {
      const sampled = await running.sample(this.#chat.native, batchRow);
      const first = running.generation.tokens.length === 0;
      for (const event of running.accept(sampled)) this.#outbox.event(running.jobId, event, first);
      if (running.generation.finishReason !== null) this.#finish(running);
    } catch (error) {
      this.#fail(running, error);
    }
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

interface PlannedRow {
  /** Absent on a filler. */
  readonly owner: Running | undefined;
  readonly row: Row;
}

function isSingle(row: Row): boolean {
  return row.tokens.length + (row.padding ?? 0) === 1;
}

function cancelled(): Error {
  return fail('cancelled');
}
