/**
 * worker/batch owns the context: the one loop that evaluates, the sequences and their KV state, and the streams that
 * are decoded in them. Jobs join and leave between steps (continuous batching). It knows nothing of templates, answer
 * formats or the wire; worker/batch/planning decides what a step evaluates (DESIGN.md).
 *
 * A step:
 *   1. drop cancelled jobs
 *   2. assign free sequences to waiting jobs, with as much KV-cache reuse as possible
 *   3. plan the native calls: decode rows, then prefill chunks
 *   4. for each call: evaluate its rows, sample as far as drafts are accepted or where a prompt ends, send the events
 */
import type { EarlierPrompt } from '../../contract/prompt-difference.ts';
import type { PinJob } from '../../contract/job.ts';
import type { PinnedEvent } from '../../contract/job-event.ts';
import type { SlotStates } from '../../contract/slots.ts';
import { fail } from '../../lib/errors/svc-error.ts';
import { pinnedPrefix } from '../../lib/prompt-cache/pin.ts';
import { handleMessages } from '../event-loop.ts';
import type { ChatModel } from '../model.ts';
import type { Outbox } from '../outbox.ts';
import { SlotWatch } from '../slot-watch.ts';
import type { PreparedChat } from '../prepare.ts';
import { ImageTurns } from './image-turns.ts';
import { adapterKey, stateOwner } from './adapter-groups.ts';
import { AdapterTurns } from './adapter-turns.ts';
import { Attention } from './attention.ts';
import { evaluateRows } from './evaluate.ts';
import { LatestPrompts } from './latest-prompts.ts';
import { keepsInSlots, openTiers } from './open-tiers.ts';
import { costModelFor, plannerFor } from './planner-for.ts';
import type { PlannedCall, PlannedRow, StepPlan, StepPlanner } from './planning/step-planner.ts';
import type { Placement } from './sequences/placement.ts';
import { Restoring } from './restoring.ts';
import { type KeyedPrompt, Sequences } from './sequences/sequences.ts';
import { type Row, callShape } from './stream/row.ts';
import { DraftingModel } from './stream/drafting-model.ts';
import { PromptScores } from './stream/prompt-scores.ts';
import { Stream } from './stream/stream.ts';
import { decodingRequest, type StreamJob } from './stream/stream-job.ts';
import { Suspension } from './suspension.ts';
import { PromptMemory } from '../prompt-memory.ts';
import { cacheFacts, type Reuse } from './tiers/cache-facts.ts';
import { IdleSave } from './tiers/idle-save.ts';
import type { Tiers } from './tiers/tiers.ts';
import { ThreadUse } from '../threads/thread-use.ts';
import { Waiting } from './waiting.ts';

interface PromptPreview {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly placement: Placement | null;
  readonly earlier: EarlierPrompt | null;
}

export class BatchLoop {
  readonly slots: SlotWatch;
  readonly #chat: ChatModel;
  readonly #outbox: Outbox;
  readonly #planner: StepPlanner;
  readonly #threads: ThreadUse;
  readonly #sequences: Sequences;
  readonly #attention: Attention;
  readonly #prompts: PromptMemory;
  readonly #latest = new LatestPrompts();
  readonly #adapters: AdapterTurns;
  readonly #images = new ImageTurns();
  readonly #drafting: DraftingModel | null;
  readonly #waiting: Waiting;
  readonly #tiers: Tiers | null;
  readonly #opened: Promise<void>;
  readonly #restoring: Restoring;
  readonly #idleSave: IdleSave;
  readonly #streams = new Map<string, Stream>();
  readonly #cancelled = new Set<string>();
  readonly #suspension: Suspension<Stream>;
  #turning = false;
  #steps = 0;

  constructor(chat: ChatModel, outbox: Outbox) {
    this.#chat = chat;
    this.#outbox = outbox;
    const costs = costModelFor(chat);
    this.#planner = plannerFor(chat, costs);
    this.#threads = new ThreadUse(chat, (message) => outbox.post(message));
    this.#tiers = openTiers(chat, costs, outbox);
    this.#opened = this.#tiers?.open() ?? Promise.resolve();
    this.#sequences = new Sequences(chat, costs, this.#tiers);
    this.#attention = new Attention(chat, { sequences: this.#sequences, costs, outbox });
    this.#idleSave = new IdleSave(this.#tiers, () => this.#sequences.idleContents);
    this.#prompts = new PromptMemory(chat.vocabulary);
    this.#adapters = new AdapterTurns(chat);
    this.#drafting = chat.draftContext === null ? null : new DraftingModel(chat.draftContext);
    this.#waiting = new Waiting(this.#sequences, this.#planner, this.#tiers);
    this.#restoring = new Restoring(this.#sequences, {
      begin: (job, place, reuse) => this.#begin(job, place, reuse),
      failed: ({ job }, error) => this.#outbox.failed(job.jobId, error),
    });
    this.#suspension = new Suspension(this.#sequences, this.#restoring);
    this.slots = new SlotWatch(
      () => this.#slotStates(),
      (message) => outbox.post(message),
    );
  }

  /** Steps begun so far: a watchdog distinguishes a hang from silence by it. */
  get steps(): number {
    return this.#steps;
  }

  preview(prepared: PreparedChat): PromptPreview {
    const keyed = this.#inCachedTokens(prepared);
    const placement = this.#sequences.preview(keyed);
    const keep = placement?.keep ?? 0;
    const kept = this.#tiers?.beyond(keyed.owner, keyed.prompt, keep) ?? null;
    return {
      promptTokens: keyed.prompt.length,
      cachedTokens: kept === null || kept === 'not_worth' ? keep : kept.length,
      placement,
      earlier: this.#prompts.earlier(prepared, keyed.prompt),
    };
  }

  submit(prepared: PreparedChat, account?: StreamJob['account']): void {
    const { job, answer, numCtx } = prepared;
    const keyed = { ...this.#inCachedTokens(prepared), adapterKey: adapterKey(job.adapters) };
    const arrivedMs = performance.now();
    this.#prompts.arrive(prepared);
    this.#latest.note(prepared);
    const { sharedTokens, preparation, folds, unheld, endsCalls, runs } = prepared;
    const request = {
      job: decodingRequest(job),
      answer,
      numCtx,
      runs,
      sharedTokens,
      preparation,
      folds,
      unheld,
      endsCalls,
    };
    this.#waiting.push({
      ...keyed,
      ...request,
      ...(account !== undefined && { account }),
      arrivedMs,
    });
    this.#restoring.wake();
    if (this.#turning) this.#waiting.noteOverlap();
    else void this.#turn();
  }

  async pin({ domain, ends }: PinJob): Promise<PinnedEvent> {
    const { modelId } = this.#chat.spec;
    const tiers = this.#tiers;
    if (tiers === null) {
      const reason = keepsInSlots(this.#chat) ? 'in_slots' : 'no_cache';
      throw fail('pin_refused', { model: modelId, reason });
    }
    await this.#opened;
    if (ends !== undefined) {
      await tiers.unpin(ends);
      return { type: 'pinned', pin: ends, heldBytes: 0 };
    }
    const latest = this.#latest.of(domain);
    const length = latest?.beginning() ?? 0;
    if (latest === null || length < LEAST_PINNED_TOKENS)
      throw fail('pin_refused', { model: modelId, reason: latest === null ? 'no_chat' : 'no_beginning' });
    const { owner } = latest;
    const tokens = latest.tokens.slice(0, length);
    const pin = pinnedPrefix(owner, tokens);
    const heldBytes = await tiers.pin(pin, tokens, this.#sequences.holder({ prompt: tokens, owner }));
    if (heldBytes === null)
      throw fail('pin_refused', { model: modelId, reason: 'no_room', limitBytes: tiers.pinLimitBytes });
    void this.save();
    return { type: 'pinned', pin, heldBytes };
  }

  async save(): Promise<void> {
    await this.#opened;
    await this.#idleSave.save();
  }

  /** False if the job is unknown. Takes effect at the next step. */
  cancel(jobId: string): boolean {
    const isHere = this.#streams.has(jobId) || this.#waiting.has(jobId) || this.#restoring.has(jobId);
    if (!isHere) return false;
    this.#cancelled.add(jobId);
    this.#restoring.wake();
    return true;
  }

  /** Replaces the prompt's tokens by those with cached state, unless they are more and take room from the answer. */
  #inCachedTokens({ job, tokens, numCtx }: PreparedChat): KeyedPrompt {
    const keyed = { prompt: tokens, owner: stateOwner(job) };
    const { scoredPrompt } = job;
    if (scoredPrompt !== undefined) return { ...keyed, mostReused: PromptScores.mostReused(scoredPrompt) };
    const cached = this.#sequences.withCachedTokens(keyed, this.#chat.vocabulary);
    const fits = cached.length <= tokens.length || cached.length + (job.maxTokens ?? 1) <= numCtx;
    return fits ? { ...keyed, prompt: cached } : keyed;
  }

  async #turn(): Promise<void> {
    this.#turning = true;
    this.#idleSave.pause();
    try {
      await this.#opened;
      await this.#waiting.linger();
      while (this.#waiting.size + this.#streams.size + this.#restoring.size > 0) {
        const hasWorked = this.#step();
        await handleMessages();
        if (!hasWorked) {
          this.#outbox.flush();
          await this.#restoring.untilChange(this.#images.areAwaited(this.#streams.values()));
        }
        await this.#outbox.drained();
      }
      this.#outbox.flush();
      this.slots.atEnd();
    } catch (error) {
      this.#failAll(error);
    } finally {
      this.#turning = false;
      this.#idleSave.resume();
    }
  }

  #step(): boolean {
    this.#dropCancelled();
    this.#dropUnreadable();
    this.#assignSequences();
    this.#suspension.resume();
    this.#attend();
    this.#adapters.choose(this.#suspension.running(this.#streams.values()));
    const { calls } = this.#suspension.planWithRoom(this.#streams.values(), (running) => this.#plan(running));
    if (this.#tiers !== null) this.#tiers.quiet.isReading = calls.some(({ phase }) => phase === 'prefill');
    if (calls.length === 0) return false;
    this.#steps += 1;
    for (const call of calls) this.#evaluate(call);
    return true;
  }

  #attend(): void {
    // Do not switch while streams are suspended for lack of KV cells.
    if (this.#suspension.size > 0) return;
    for (const stream of this.#attention.consider([...this.#streams.values()])) stream.suspend();
  }

  #plan(running: readonly Stream[]): StepPlan {
    const streams = running
      .filter((stream) => this.#adapters.hasTurn(stream))
      .sort((a, b) => a.sequence - b.sequence);
    const decoding = streams.filter((stream) => stream.isDecoding);
    const prefilling = streams.filter((stream) => !stream.isDecoding);
    const atText = oneScoring(prefilling.filter(({ images, position }) => images.at(position) === null));
    const plan =
      decoding.length + atText.length === 0
        ? NOTHING
        : this.#planner.plan({
            nowMs: performance.now(),
            cellsInUse: this.#sequences.cellsInUse,
            decoding: decoding.map((stream) => stream.decodingState()),
            prefilling: atText.map((stream) => stream.prefillingState()),
          });
    const image = this.#images.call(prefilling, this.#chat.context.batchTokens);
    return image === null ? plan : { calls: [...plan.calls, image] };
  }

  #evaluate({ phase, rows, expectedMs }: PlannedCall): void {
    // No event may wait for a call that prefills; that can take long.
    this.#outbox.beforeNativeCall(phase === 'prefill' ? Number.POSITIVE_INFINITY : expectedMs);
    const bySequence = new Map([...this.#streams.values()].map((stream) => [stream.sequence, stream]));
    const streamIn = (sequence: number): Stream => {
      const stream = bySequence.get(sequence);
      if (stream === undefined) throw new Error(`no stream runs in sequence ${sequence}`);
      return stream;
    };
    const nativeRows = rows.map((row) => nativeRow(row, streamIn(row.sequence)));
    const call = this.#threads.begin({ phase, ...callShape(nativeRows) });
    evaluateRows(this.#chat.context, nativeRows, {
      onEvaluated: () => {
        this.#outbox.afterNativeCall();
        this.slots.afterNativeCall();
      },
      onResult: (row, result) => {
        const stream = streamIn(row.sequence);
        if ('error' in result) {
          if (!result.restored) this.#sequences.empty(row.sequence);
          return this.#fail(stream, result.error);
        }
        this.#advance(stream, row, result.logitRows);
      },
    });
    const ms = this.#threads.end(call);
    if (rows[0]?.kind === 'image') return;
    this.#planner.observe({ phase, rows, ms, cellsInUse: this.#sequences.cellsInUse });
  }

  #slotStates(): SlotStates {
    const works = new Map(
      [...this.#streams.values()].map((stream) => {
        const isSuspended = this.#suspension.has(stream);
        return [stream.sequence, { ...stream.work(), ...(isSuspended && { phase: 'suspended' as const }) }];
      }),
    );
    return this.#sequences.kept().map((kept) => {
      const work = works.get(kept.slot);
      return work === undefined ? kept : { ...kept, work };
    });
  }

  #dropCancelled(): void {
    for (const jobId of this.#cancelled) {
      const stream = this.#streams.get(jobId);
      if (stream !== undefined) this.#fail(stream, fail('cancelled'));
      else if (this.#waiting.remove(jobId) || this.#restoring.remove(jobId))
        this.#outbox.failed(jobId, fail('cancelled'));
    }
    this.#cancelled.clear();
  }

  #dropUnreadable(): void {
    for (const stream of this.#streams.values()) {
      const { failure } = stream.images;
      if (failure !== null) this.#fail(stream, failure.error);
    }
  }

  #assignSequences(): void {
    if (this.#waiting.size === 0 || this.#suspension.size > 0) return;
    const prefilling = [...this.#streams.values()].filter(({ remaining }) => remaining > 0);
    this.#waiting.assignSequences([...prefilling, ...this.#restoring.prompts], {
      restore: (job, placement, restoration) => void this.#restoring.restore(job, placement, restoration),
      begin: (job, placement, before) =>
        this.#begin(job, placement, { ...before, ...FROM_SLOT, slotTokens: placement.keep }),
      failed: ({ job }, error) => this.#outbox.failed(job.jobId, error),
    });
  }

  #begin(
    job: StreamJob,
    { id: sequence, keep: cachedTokens }: Pick<Placement, 'id' | 'keep'>,
    reuse: Omit<Reuse, 'prompt'>,
  ): void {
    const { maxDraftTokens } = this.#planner;
    const drafting = job.runs.length === 0 ? this.#drafting : null;
    const cache = cacheFacts({ ...reuse, prompt: job.prompt });
    const onImages = (): void => this.#restoring.wake();
    const start = { job, sequence, cachedTokens, cache, maxDraftTokens, drafting, onImages };
    const stream = new Stream(this.#chat, start);
    this.#streams.set(stream.jobId, stream);
    const earlier = this.#prompts.begin(stream.jobId, job.prompt);
    const started = {
      type: 'started',
      ...(earlier === null ? {} : { earlier }),
      promptTokens: job.prompt.length,
      cachedTokens,
      numCtx: job.numCtx,
      cache,
      preparation: job.preparation,
      ...(job.folds.length === 0 ? {} : { folds: [...job.folds] }),
      ...(job.unheld.length === 0 ? {} : { unheld: [...job.unheld] }),
    } as const;
    this.#outbox.event(stream.jobId, started, true);
    this.#reportProgress(stream);
  }

  #reportProgress(stream: Stream): void {
    const progress = stream.output.tokens.length === 0 ? stream.progressEvent() : null;
    if (progress !== null) this.#outbox.event(stream.jobId, progress, true);
  }

  #advance(stream: Stream, row: Row, logitRows: readonly number[]): void {
    const kept = row.tokens.length - (row.drafts ?? 0);
    const wasPrompt = stream.remaining > 0;
    this.#keep(stream, row.tokens.subarray(0, kept), wasPrompt);
    if (wasPrompt) this.#reportProgress(stream);
    // Another question about the same image branches there.
    const isImageEnd = row.medium !== undefined && stream.images.at(stream.position) === null;
    const isEnd = stream.remaining === 0 || stream.position === stream.sharedTokens;
    if (wasPrompt && (isEnd || isImageEnd)) this.#sequences.promptEvaluated(row.sequence);
    try {
      for (const event of stream.score(this.#chat.context, row, logitRows))
        this.#outbox.event(stream.jobId, event);
      const sampled = logitRows.slice(logitRows.length - (row.sampled ?? logitRows.length));
      this.#sample(stream, row.tokens.subarray(kept), sampled);
      if (stream.isFinished) this.#finish(stream);
    } catch (error) {
      this.#fail(stream, error);
    }
  }

  #sample(stream: Stream, drafts: Uint32Array, logitRows: readonly number[]): void {
    let accepted = 0;
    try {
      for (const logitRow of logitRows) {
        const sampled = stream.sample(this.#chat.context, logitRow);
        const isFirst = stream.output.tokens.length === 0;
        for (const event of stream.accept(sampled)) this.#outbox.event(stream.jobId, event, isFirst);
        if (drafts[accepted] !== sampled.token || stream.output.finishReason !== null) return;
        this.#keep(stream, drafts.subarray(accepted, accepted + 1), false);
        accepted += 1;
      }
    } finally {
      stream.countDrafts(drafts.length, accepted);
      if (drafts.length > 0) this.#sequences.forgetBeyond(stream.sequence);
    }
  }

  #keep(stream: Stream, tokens: Uint32Array, isPrompt: boolean): void {
    if (isPrompt) this.#sequences.append(stream.sequence, tokens);
    else this.#sequences.appendAnswer(stream.sequence, tokens);
    stream.advance(tokens.length);
  }

  #finish(stream: Stream): void {
    this.#outbox.event(stream.jobId, stream.doneEvent(), true);
    this.#release(stream);
  }

  #fail(stream: Stream, error: unknown): void {
    this.#release(stream);
    this.#outbox.failed(stream.jobId, error);
  }

  #release(stream: Stream): void {
    this.#streams.delete(stream.jobId);
    this.#suspension.remove(stream);
    this.#sequences.release(stream.sequence, this.#steps);
    this.#prompts.end(stream.jobId, stream.output.tokens);
    stream.dispose();
  }

  /** Only a defect of the loop itself leads here; every job still gets its last event. */
  #failAll(error: unknown): void {
    for (const stream of this.#streams.values()) this.#fail(stream, error);
    for (const { job } of [...this.#waiting.removeAll(), ...this.#restoring.removeAll()])
      this.#outbox.failed(job.jobId, error);
  }
}

/** Chosen: fewer are evaluated in no time. */
const LEAST_PINNED_TOKENS = 32;
const NOTHING: StepPlan = { calls: [] };
const FROM_SLOT = { ramTokens: 0, diskTokens: 0, restoreMs: 0 } as const;

function nativeRow({ kind, tokens, padding }: PlannedRow, stream: Stream): Row {
  if (kind === 'decode') return stream.decodeRow(tokens - 1, padding);
  if (kind === 'image') return stream.imageRow(tokens);
  return stream.prefillRow(tokens, padding);
}

/** Memory for logits suffices for one scored prompt at a time, in order of arrival. */
function oneScoring(prefilling: readonly Stream[]): readonly Stream[] {
  const scoring = prefilling.filter(({ isScoring }) => isScoring);
  const [first] = scoring.sort((a, b) => a.arrivedMs - b.arrivedMs);
  return prefilling.filter((stream) => !stream.isScoring || stream === first);
}
