/**
 * Decides when a busy worker counts as hung. Time is counted in its own ticks, not on a clock: a server that was
 * itself stopped or starved must not accuse its workers on waking.
 */
import type { Job, TextOrIds } from '../../contract/job.ts';
import type { JobEvent } from '../../contract/job-event.ts';
import type { WorkerLimits } from './limits.ts';

const SMOOTHING = 0.2;
const SLOW_AFTER_BEATS = 4;
/** A worker that is held up all the time gets this many times the patience of another, and not more. */
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
  /** Per open job, tokens of its longest input: each input is one uninterruptible stretch of work. */
  readonly #inputTokens = new Map<string, number>();
  /** Per job that reads its prompt, tokens to read. */
  readonly #promptTokens = new Map<string, number>();
  /** Characters that the child has to read before an open job begins. */
  readonly #unreadChars = new Map<string, number>();

  constructor(limits: WorkerLimits, silenceLimitMs: number) {
    this.#limits = limits;
    this.#silenceLimitMs = silenceLimitMs;
  }

  /** Begins a stretch of supervision: a load, or jobs after an idle time. */
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

  /** Any message proves that the child's own loop turns. */
  alive(): void {
    this.#silentMs = 0;
  }

  /** The child counts the steps of its batch loop, if it does. */
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
   * One heartbeat has passed; the sentence says why the worker counts as hung. `heldUpMs`: how long it could have run
   * meanwhile and got no core.
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

  /** Whether to check if other programs hold the worker up. */
  get isSlow(): boolean {
    return Math.max(this.#silentMs, this.#stillMs) >= SLOW_AFTER_BEATS * this.#limits.heartbeatMs;
  }

  /** False if jobs have moved between the last two beats: a ping would only repeat that, and costs four wake-ups. */
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
   * Prompt tokens that one step may evaluate. A step is counted when it begins, so with the second one it is known how
   * long the first took, and the usual patience is enough.
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

/** Characters of what is computed as a whole; null for a job without such inputs. */
function longestInput(job: Job): number | null {
  if (job.kind === 'embed') return job.inputs.reduce((most, input) => Math.max(most, charsIn(input)), 0);
  if (job.kind !== 'rank') return null;
  return job.documents.reduce((most, { length }) => Math.max(most, job.query.length + length), 0);
}

/** A token stands for about four characters. */
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
