/**
 * worker/batch/stream owns one answer while it is decoded: its sampler, its output, its drafts and the rows it needs.
 * It knows nothing of other streams, of steps or of how KV state is reused. This file tracks the progress of prompt
 * and answer, the next rows, and the state for the planner.
 */
import type { CacheFacts, DoneEvent, JobEvent, ProgressEvent } from '../../../contract/job-event.ts';
import type { SlotWork } from '../../../contract/slots.ts';
import type { NativeContext } from '../../native.ts';
import type { ChatModel } from '../../model.ts';
import type { DecodingSequence, PrefillingSequence } from '../planning/step-planner.ts';
import { type DraftSource, FirstOf } from './draft-source.ts';
import { type DraftingModel, ModelDrafts } from './drafting-model.ts';
import { JoinedPieces } from './joined-pieces.ts';
import { LogitTrace, topTwo } from './logit-trace.ts';
import { PromptLookup } from './prompt-lookup.ts';
import { PromptScores } from './prompt-scores.ts';
import type { TileRules } from '../../../contract/settings/exact-rules.ts';
import { tileRules } from '../planning/tiles.ts';
import type { Row } from './row.ts';
import type { StreamJob } from './stream-job.ts';
import { StreamOutput } from './stream-output.ts';
import { StreamImages } from './stream-images.ts';
import { type Sampled, StreamSampler } from './stream-sampler.ts';

interface StreamStart {
  readonly job: StreamJob;
  readonly sequence: number;
  readonly cachedTokens: number;
  readonly cache: CacheFacts | null;
  readonly maxDraftTokens: number;
  readonly drafting: DraftingModel | null;
  readonly onImages?: () => void;
}

/** Null if fewer rows than a tile would be left on one side of the stop. */
function prefillStop(
  { sharedTokens, prompt }: StreamJob,
  cachedTokens: number,
  { leastRows }: TileRules,
): number | null {
  if (sharedTokens === null) return null;
  const isTiled = sharedTokens - cachedTokens >= leastRows && prompt.length - sharedTokens >= leastRows;
  return isTiled ? sharedTokens : null;
}

export class Stream {
  readonly jobId: string;
  readonly prompt: Uint32Array;
  readonly sequence: number;
  readonly adapters: StreamJob['job']['adapters'];
  readonly adapterKey: string;
  readonly owner: string;
  readonly sharedTokens: number | null;
  readonly output: StreamOutput;
  readonly images: StreamImages;
  readonly #scores: PromptScores | null;
  readonly #reportsProgress: boolean;
  readonly #joined: JoinedPieces | null;
  readonly #arrivedMs: number;
  readonly #cachedTokens: number;
  readonly #cache: CacheFacts | null;
  readonly #maxDraftTokens: number;
  readonly #drafting: DraftingModel | null;
  readonly #sampler: StreamSampler;
  readonly #account: StreamJob['account'];
  readonly #trace: LogitTrace | null;
  readonly #placedMs = performance.now();
  readonly #draftCounts = { drafted: 0, accepted: 0 };
  #firstTokenMs: number | null = null;
  #position: number;
  #next: number | null = null;
  /** After a suspension: prompt and answer so far, whose state must be evaluated again. */
  #again: Uint32Array | null = null;
  /** Created at the first decode step, because many answers are one token long. */
  #drafts: DraftSource | null = null;

  constructor(chat: Pick<ChatModel, 'model' | 'vocabulary' | 'spec' | 'exact'>, start: StreamStart) {
    const { job, sequence, cachedTokens, maxDraftTokens, drafting } = start;
    this.jobId = job.job.jobId;
    this.prompt = job.prompt;
    this.sequence = sequence;
    this.adapters = job.job.adapters;
    this.adapterKey = job.adapterKey;
    this.owner = job.owner;
    const tiles = tileRules(chat);
    this.sharedTokens = prefillStop(job, cachedTokens, tiles);
    const { scoredPrompt } = job.job;
    this.#scores =
      scoredPrompt === undefined
        ? null
        : new PromptScores(chat.vocabulary, job.prompt, scoredPrompt, tiles.leastRows);
    this.#cache = start.cache;
    this.#reportsProgress = job.job.reportsProgress === true;
    this.#joined = job.job.isWhole === true ? new JoinedPieces() : null;
    this.#arrivedMs = job.arrivedMs;
    this.#cachedTokens = cachedTokens;
    this.#position = cachedTokens;
    this.#maxDraftTokens = maxDraftTokens;
    this.#drafting = drafting;
    this.#account = job.account;
    this.#trace = job.account === undefined ? null : new LogitTrace();
    this.#sampler = new StreamSampler(chat, job);
    this.output = new StreamOutput(job, chat.vocabulary);
    this.images = new StreamImages(job.prompt, job.runs, start.onImages ?? (() => undefined));
    this.images.want(cachedTokens);
  }

  get border(): number | null {
    return this.sharedTokens;
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return Math.max(0, this.#evaluated.length - this.#position);
  }

  get arrivedMs(): number {
    return this.#arrivedMs;
  }

  get isScoring(): boolean {
    return this.#scores?.isOver === false;
  }

  get isDecoding(): boolean {
    return this.#next !== null && this.#again === null;
  }

  get isFinished(): boolean {
    return this.remaining === 0 && this.output.finishReason !== null;
  }

  get #evaluated(): Uint32Array {
    return this.#again ?? this.prompt;
  }

  decodingState(): DecodingSequence {
    const lookup = this.#draftSource();
    return {
      sequence: this.sequence,
      position: this.#position,
      arrivedMs: this.#arrivedMs,
      firstTokenMs: this.#firstTokenMs ?? 0,
      draftTokens: lookup?.hasDraft ? Math.min(this.#maxDraftTokens, this.output.tokensLeft - 1) : 0,
      draftHitRate: lookup?.hitRate ?? 0,
      draftMsPerToken: lookup?.msPerToken ?? 0,
    };
  }

  /**
   * Prefill stops before each image, and once at the end of the part that other prompts share, so that its state can
   * be kept.
   */
  prefillingState(): PrefillingSequence {
    const [position, stop] = [this.#position, this.sharedTokens ?? 0];
    const shared = position < stop ? stop : this.#evaluated.length;
    const border = Math.min(shared, this.images.nextStart(position) ?? shared);
    const end = this.#scores?.callEnd(position, border) ?? border;
    const readsRows = (this.#scores?.countRows(position, end - position) ?? 0) > 0;
    return {
      sequence: this.sequence,
      position,
      remaining: end - position,
      arrivedMs: this.#arrivedMs,
      ...(readsRows ? { readsRows } : {}),
    };
  }

  work(): SlotWork {
    return {
      jobId: this.jobId,
      phase: this.isDecoding ? 'decode' : 'prefill',
      promptTokens: this.prompt.length,
      cachedTokens: this.#cachedTokens,
      evaluatedTokens: Math.min(this.#position, this.prompt.length),
      writtenTokens: this.output.tokens.length,
      draftedTokens: this.#draftCounts.drafted,
      acceptedTokens: this.#draftCounts.accepted,
    };
  }

  decodeRow(drafts = 0, padding = 0): Row {
    const drafted = drafts > 0 ? (this.#drafts?.draft(drafts) ?? []) : [];
    return {
      sequence: this.sequence,
      position: this.#position,
      tokens: Uint32Array.of(this.#next ?? 0, ...drafted),
      logits: 1 + drafted.length,
      drafts: drafted.length,
      padding,
      spared: this.images.sparedBefore(this.#position),
    };
  }

  prefillRow(tokens: number, padding = 0): Row {
    const end = this.#position + tokens;
    const samples = this.#next === null && end === this.prompt.length && this.output.finishReason === null;
    return {
      sequence: this.sequence,
      position: this.#position,
      tokens: this.#evaluated.subarray(this.#position, end),
      logits: Math.max(this.#scores?.countRows(this.#position, tokens) ?? 0, samples ? 1 : 0),
      sampled: samples ? 1 : 0,
      padding,
      spared: this.images.sparedBefore(this.#position),
    };
  }

  imageRow(rows: number): Row {
    return {
      sequence: this.sequence,
      position: this.#position,
      tokens: this.#evaluated.subarray(this.#position, this.#position + rows),
      logits: 0,
      spared: this.images.sparedBefore(this.#position),
      medium: this.images.rowsAt(this.#position, rows),
    };
  }

  score(context: NativeContext, row: Row, logitRows: readonly number[]): JobEvent[] {
    return this.#scores?.read(context, row, logitRows) ?? [];
  }

  advance(tokens: number): void {
    this.#position += tokens;
    this.images.passed(this.#position);
    if (this.#again === null) this.#next = null;
    else if (this.remaining === 0) this.#again = null;
  }

  /** Another answer took its cells: prompt and answer so far are evaluated again before it continues. */
  suspend(): void {
    // The last sampled token has no state yet.
    const answer = this.#next === null ? [] : this.output.tokens.slice(0, -1);
    this.#again = Uint32Array.from([...this.prompt, ...answer]);
    this.#position = 0;
    this.images.want(0);
  }

  sample(context: NativeContext, logitRow: number): Sampled {
    const { avoided, tokens } = this.output;
    const largest = this.#trace === null ? null : topTwo(context, logitRow);
    const sampled = this.#sampler.sample(context, logitRow, { tokens, avoided });
    if (largest !== null) this.#trace?.add(sampled.token, largest);
    if (avoided !== null && sampled.token !== avoided) this.output.nudged();
    return sampled;
  }

  accept({ token, reported }: Sampled): JobEvent[] {
    this.#firstTokenMs ??= performance.now();
    this.#next = token;
    this.#drafts?.push(token);
    const events = this.output.push(token, reported);
    const joined = this.#joined;
    if (joined === null) return events;
    const ready = events.flatMap((event) => joined.push(event));
    return this.output.finishReason === null ? ready : [...ready, ...joined.flush()];
  }

  countDrafts(drafted: number, accepted: number): void {
    this.#draftCounts.drafted += drafted;
    this.#draftCounts.accepted += accepted;
  }

  progressEvent(): ProgressEvent | null {
    if (!this.#reportsProgress) return null;
    return {
      type: 'progress',
      promptTokens: this.prompt.length,
      cachedTokens: this.#cachedTokens,
      evaluatedTokens: Math.min(this.#position, this.prompt.length),
      elapsedMs: performance.now() - this.#placedMs,
    };
  }

  doneEvent(): DoneEvent {
    const nowMs = performance.now();
    const firstTokenMs = this.#firstTokenMs ?? nowMs;
    const { finishReason, stopString, repetition } = this.output;
    return {
      type: 'done',
      finishReason: finishReason ?? 'stop',
      ...(stopString === null ? {} : { stopString }),
      ...(repetition === null ? {} : { repetition }),
      // A record describes the answer, and a replay has another cache.
      usage: this.output.usage(this.#trace === null ? this.#cachedTokens : 0),
      ...(this.#cache === null ? {} : { cache: this.#cache }),
      ...(this.#trace !== null && this.#account && { frozen: this.#account(this.output, this.#trace) }),
      timings: {
        prefillMs: firstTokenMs - this.#placedMs,
        decodeMs: nowMs - firstTokenMs,
        ...(this.#draftCounts.drafted > 0 && { drafts: this.#draftCounts }),
      },
    };
  }

  dispose(): void {
    this.#sampler.dispose();
    this.#drafting?.forget(this.sequence);
  }

  #draftSource(): DraftSource | null {
    if (this.#maxDraftTokens === 0 || this.#drafts !== null) return this.#drafts;
    const lookup = new PromptLookup(this.prompt);
    const { sequence, prompt } = this;
    const model = this.#drafting === null ? null : new ModelDrafts(this.#drafting, { sequence, prompt });
    this.#drafts = model === null ? lookup : new FirstOf([lookup, model]);
    for (const token of this.output.tokens) this.#drafts.push(token);
    return this.#drafts;
  }
}
