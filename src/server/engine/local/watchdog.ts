/**
 * Decides when a busy worker counts as hung. It counts its own ticks, not clock time: a server that was itself
 * stopped or starved must not blame its workers on waking.
 */
import type { Job, TextOrIds } from '../../../contract/job.ts';
import type { JobEvent } from '../../../contract/job-event.ts';
import type { WorkerLimits } from './limits.ts';

const SMOOTHING = 0.2;
const SLOW_AFTER_BEATS = 4;
const MOST_PATIENCE = 10;
/** Rounded down, which errs on the side of patience. */
const CHARS_PER_TOKEN = 2;

export class Watchdog {
  readonly #limits: WorkerLimits;
  #silenceLimitMs: number;
  #silentMs = 0;
  #stillMs = 0;
  #stepMs = 0;
  #lastStepMs: number | undefined;
  #steps: number | undefined;
  #hasMoved = false;
  #isQuiet = true;
  /** Tokens of the longest input per open job; each input is one uninterruptible piece of work. */
  readonly #inputTokens = new Map<string, number>();
  readonly #promptTokens = new Map<string, number>();
  readonly #unreadChars = new Map<string, number>();

  constructor(limits: WorkerLimits, silenceLimitMs: number) {
    this.#limits = limits;
    this.#silenceLimitMs = silenceLimitMs;
  }

  begin(silenceLimitMs: number): void {
    this.#silenceLimitMs = silenceLimitMs;
    this.#silentMs = 0;
    this.#stillMs = 0;
    this.#lastStepMs = undefined;
  }

  jobOpened(job: Job): void {
    const longest = longestInput(job);
    if (longest !== null) this.#inputTokens.set(job.jobId, longest / CHARS_PER_TOKEN);
    this.#unreadChars.set(job.jobId, jobChars(job));
  }

  jobClosed(jobId: string): void {
    this.#inputTokens.delete(jobId);
    this.#promptTokens.delete(jobId);
    this.#unreadChars.delete(jobId);
  }

  /** Any message proves that the child's event loop runs. */
  alive(): void {
    this.#silentMs = 0;
  }

  stepsReported(steps: number | undefined, nowMs: number): void {
    if (steps === undefined || steps === this.#steps) return;
    this.#steps = steps;
    this.#moved(nowMs);
  }

  eventSeen(jobId: string, event: JobEvent, nowMs: number): void {
    this.#unreadChars.delete(jobId);
    if (event.type === 'started')
      this.#promptTokens.set(jobId, Math.max(0, event.promptTokens - event.cachedTokens));
    else this.#promptTokens.delete(jobId);
    this.#moved(nowMs);
  }

  /**
   * Call once per heartbeat; returns the reason if the worker counts as hung. `heldUpMs`: time that it was runnable
   * but got no core.
   */
  tick(jobsOpen: boolean, heldUpMs = 0): string | null {
    const { heartbeatMs } = this.#limits;
    const ownMs = Math.max(heartbeatMs - heldUpMs, heartbeatMs / MOST_PATIENCE);
    this.#isQuiet = !jobsOpen || !this.#hasMoved;
    this.#hasMoved = false;
    this.#silentMs += ownMs;
    if (this.#silentMs > this.#silenceLimitMs + this.#tokenisingMs()) return 'no heartbeat';
    if (!jobsOpen) return null;
    this.#stillMs += ownMs;
    return this.#stillMs > this.#patienceMs() ? 'no progress' : null;
  }

  get isSlow(): boolean {
    return Math.max(this.#silentMs, this.#stillMs) >= SLOW_AFTER_BEATS * this.#limits.heartbeatMs;
  }

  /** False if jobs have moved since the last beat: a ping would add nothing and costs four wake-ups. */
  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  #tokenisingMs(): number {
    let chars = 0;
    for (const unread of this.#unreadChars.values()) chars += unread;
    return chars * this.#limits.silencePerCharMs;
  }

  #patienceMs(): number {
    const prompt = Math.min(this.#mostPromptTokens, Math.max(0, ...this.#promptTokens.values()));
    const pending = Math.max(prompt, ...this.#inputTokens.values());
    const { stallMs, stallFactor, stallMostMs } = this.#limits;
    const usual = Math.max(stallMs, Math.min(stallMostMs, stallFactor * this.#stepMs));
    return usual + pending * this.#limits.stallPerPromptTokenMs;
  }

  /**
   * Prompt tokens that one step may evaluate. A step is counted when it begins, so the second one reveals the time of
   * the first and the usual patience suffices.
   */
  get #mostPromptTokens(): number {
    if (this.#steps === undefined) return Infinity;
    return this.#steps < 2 ? this.#limits.firstChunkTokens : 0;
  }

  #moved(nowMs: number): void {
    if (this.#lastStepMs !== undefined) this.#stepMs += SMOOTHING * (nowMs - this.#lastStepMs - this.#stepMs);

    this.#lastStepMs = nowMs;
    this.#stillMs = 0;
    this.#hasMoved = true;
  }
}

/** Characters of the longest input that is computed as a whole; null without such inputs. */
function longestInput(job: Job): number | null {
  if (job.kind === 'embed') return job.inputs.reduce((most, input) => Math.max(most, charsIn(input)), 0);
  if (job.kind !== 'rank') return null;
  return job.documents.reduce((most, { length }) => Math.max(most, job.query.length + length), 0);
}

const charsIn = (input: TextOrIds): number => (typeof input === 'string' ? 1 : 4) * input.length;

function jobChars(job: Job): number {
  switch (job.kind) {
    case 'embed':
      return job.inputs.reduce((sum, input) => sum + charsIn(input), 0);
    case 'rank':
      return job.documents.reduce((sum, { length }) => sum + length, job.query.length);
    case 'explain':
      return jobChars(job.job);
    case 'tokenize':
      return job.text.length;
    case 'detokenize':
      return job.tokens.length;
    case 'pin':
      return 0;
    case 'generate': {
      const { prompt } = job;
      if (prompt.kind === 'text') {
        const files = (prompt.files ?? []).map(({ name, text }) => name + text);
        return [prompt.text, prompt.suffix ?? '', ...files].reduce((sum, { length }) => sum + length, 0);
      }
      if (prompt.kind === 'tokens') return prompt.tokens.length;
      if (prompt.kind === 'mixed') return prompt.parts.reduce((sum, { length }) => sum + length, 0);
      return prompt.turns.reduce((sum, turn) => sum + turn.content.length, 0);
    }
  }
}
