/** The log entry of one request while it runs: its stages in milliseconds, its tokens, its end. Never its text. */
import type { RequestAccount } from '../caller.ts';
import type { FinishedRequest } from './recorder.ts';
import {
  type CacheFacts,
  isLoadReason,
  type JobEvent,
  type StartedEvent,
} from '../../../contract/job-event.ts';
import { missReason } from '../../../contract/prompt-difference.ts';
import { trueFinishReason } from '../generation/usage.ts';
import type { Clock } from '../../../lib/base/clock.ts';
import type { SvcError } from '../../../lib/errors/svc-error.ts';

type Stage = 'queue' | 'load';

type Counts = Pick<
  FinishedRequest,
  | 'model'
  | 'queue_ms'
  | 'load_ms'
  | 'prompt_ms'
  | 'grammar_ms'
  | 'restore_ms'
  | 'first_ms'
  | 'prefill_ms'
  | 'decode_ms'
  | 'check_ms'
  | 'prompt_tokens'
  | 'cached_tokens'
  | 'ram_tokens'
  | 'disk_tokens'
  | 'cache_miss'
  | 'completion_tokens'
  | 'drafted_tokens'
  | 'accepted_tokens'
  | 'finish_reason'
>;

export class RequestEntry implements RequestAccount {
  readonly startedMs: number;
  failure: SvcError | null = null;
  readonly #clock: Clock;
  readonly #begin: number;
  readonly #counts: { -readonly [Key in keyof Counts]: Counts[Key] } = {};
  #stage: { readonly name: Stage; readonly sinceMs: number } | null = null;
  /** The last stage before `started`; the end of the job may correct its length. */
  #before: { readonly name: Stage; readonly sinceMs: number; readonly knownMs: number } | null = null;
  #hasStarted = false;
  #completed: number | null = null;
  #pieces = 0;
  #lastMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begin = clock.monotonicMs();
    this.startedMs = Math.round(clock.unixMs());
  }

  get counts(): Counts {
    return { ...this.#counts, ...this.#waited(), ...this.#written() };
  }

  get elapsedMs(): number {
    return Math.round(this.#clock.monotonicMs() - this.#begin);
  }

  get waitMs(): number | null {
    return this.#hasStarted ? (this.#counts.queue_ms ?? 0) + (this.#counts.load_ms ?? 0) : null;
  }

  onModel(id: string): void {
    this.#counts.model = id;
    this.#enter('queue');
  }

  onEvent(event: JobEvent): void {
    switch (event.type) {
      case 'queued':
        return this.#enter(isLoadReason(event.reason) ? 'load' : 'queue');
      case 'started':
        this.#begun(event);
        return this.#start();
      case 'text':
      case 'reasoning':
        return this.#said(event.pieces);
      case 'tool_call':
        return this.#said();
      case 'embedding':
      case 'score':
        return this.#start();
      case 'embedded':
      case 'ranked':
        this.#start();
        this.#counts.prompt_tokens = event.totalTokens;
        return this.#computed(event.computeMs);
      case 'done': {
        const { usage, timings } = event;
        const { drafts } = timings;
        const counts = this.#counts;
        counts.prompt_tokens = usage.promptTokens;
        counts.cached_tokens = usage.cachedTokens;
        this.#completed = (this.#completed ?? 0) + usage.completionTokens;
        counts.prefill_ms = Math.round(timings.prefillMs);
        counts.decode_ms = Math.round(timings.decodeMs);
        if (usage.completionTokens > 0) this.#sampled(timings.decodeMs);
        counts.finish_reason = trueFinishReason(event);
        if (drafts === undefined) return;
        counts.drafted_tokens = (counts.drafted_tokens ?? 0) + drafts.drafted;
        counts.accepted_tokens = (counts.accepted_tokens ?? 0) + drafts.accepted;
        return;
      }
      default:
        return;
    }
  }

  #said(pieces = 1): void {
    const nowMs = this.elapsedMs;
    this.#counts.first_ms ??= nowMs;
    this.#lastMs = nowMs;
    this.#pieces += pieces;
  }

  /** A tool call is held back until it is checked, so it was sampled earlier than it arrives here. */
  #sampled(decodeMs: number): void {
    const firstMs = Math.max(0, Math.round(this.#clock.monotonicMs() - this.#begin - decodeMs));
    this.#counts.first_ms = Math.min(firstMs, this.#counts.first_ms ?? firstMs);
  }

  #written(): Counts {
    if (this.#completed !== null) return { completion_tokens: this.#completed };
    const { first_ms: first, decode_ms: decode = this.#lastMs - (first ?? 0) } = this.#counts;
    return first === undefined ? {} : { completion_tokens: this.#pieces, decode_ms: decode };
  }

  onCheck(ms: number): void {
    this.#counts.check_ms = (this.#counts.check_ms ?? 0) + Math.ceil(ms);
  }

  #begun(event: StartedEvent): void {
    const { cache, preparation } = event;
    this.#counts.prompt_tokens = event.promptTokens;
    this.#counts.cached_tokens = event.cachedTokens;
    if (cache !== undefined) this.#reused(cache);
    const miss = missReason(event);
    if (miss !== null) this.#counts.cache_miss = miss;
    if (preparation === undefined) return;
    const { promptMs, grammarMs } = preparation;
    this.#counts.prompt_ms = Math.ceil(promptMs);
    if (grammarMs > 0) this.#counts.grammar_ms = Math.ceil(grammarMs);
  }

  #reused({ restoreMs, ramTokens, diskTokens }: CacheFacts): void {
    if (restoreMs > 0) this.#counts.restore_ms = Math.round(restoreMs);
    if (ramTokens > 0) this.#counts.ram_tokens = ramTokens;
    if (diskTokens > 0) this.#counts.disk_tokens = diskTokens;
  }

  /** Only the first of several answers counts; the stages of the others overlap with its own. */
  #enter(name: Stage): void {
    if (this.#hasStarted || this.#stage?.name === name) return;
    this.#leave();
    this.#stage = { name, sinceMs: this.#clock.monotonicMs() };
  }

  #start(): void {
    if (this.#hasStarted) return;
    this.#leave();
    this.#hasStarted = true;
  }

  /** Ends the wait at the first step, whose time only the end of the job reports. */
  #computed(ms: number | undefined): void {
    if (ms === undefined || this.#before === null) return;
    const { name, sinceMs, knownMs } = this.#before;
    const waitedMs = Math.max(0, this.#clock.monotonicMs() - ms - sinceMs);
    this.#counts[`${name}_ms`] = knownMs + Math.round(waitedMs);
    this.#counts.prefill_ms = Math.round(ms);
    this.#before = null;
  }

  #leave(): void {
    if (this.#stage !== null)
      this.#before = { ...this.#stage, knownMs: this.#counts[`${this.#stage.name}_ms`] ?? 0 };
    Object.assign(this.#counts, this.#waited());
    this.#stage = null;
  }

  #waited(): Counts {
    if (this.#stage === null) return {};
    const { name, sinceMs } = this.#stage;
    const ms = Math.round(this.#clock.monotonicMs() - sinceMs);
    return { [`${name}_ms`]: (this.#counts[`${name}_ms`] ?? 0) + ms };
  }
}
