/**
 * Sends messages to the server. Events of one batch step leave as one message. If the channel backs up, the loop
 * waits: a slow server then slows decoding and does not fill the worker's memory.
 */
import type { IpcFailure, FromWorker } from '../contract/ipc.ts';
import type { JobEvent } from '../contract/job-event.ts';
import { WORKER_CODES } from '../contract/worker-failure.ts';
import { isFailure, errorMessage } from '../lib/errors/svc-error.ts';

interface OutboxLimits {
  /** Messages handed to the channel and not yet written, above which the loop waits. */
  readonly unsentMessages: number;
  readonly eventsPerMessage: number;
  /** Longest time between two non-empty messages, milliseconds, unless the work between them takes longer. */
  readonly betweenMessagesMs: number;
  /** Longest wait of an event to share a message, milliseconds. */
  readonly longestHoldMs: number;
  /** Milliseconds of work before which all events are sent first: a reader would notice the wait. */
  readonly eachAboveMs: number;
}

/**
 * Each message costs server and client about a millisecond: several short steps share one, and a step of 22 ms or
 * more has its own.
 */
export const OUTBOX_LIMITS: OutboxLimits = {
  unsentMessages: 64,
  eventsPerMessage: 2048,
  betweenMessagesMs: 45,
  longestHoldMs: 100,
  eachAboveMs: 22,
};

/** On a GPU, cores are free for messages: the refresh rate of a screen is a good limit. */
const BETWEEN_MESSAGES_ON_GPU_MS = 15;

type Send = (message: FromWorker, onSent: () => void) => void;

export class Outbox {
  readonly #send: Send;
  #limits: OutboxLimits;
  readonly #nowMs: () => number;
  #flushedMs = Number.NEGATIVE_INFINITY;
  #workBeganMs = 0;
  #oldestMs = 0;
  #events: { jobId: string; event: JobEvent }[] = [];
  #urgent = false;
  #unsent = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    send: Send,
    limits: OutboxLimits = OUTBOX_LIMITS,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#send = send;
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  computesOnGpu(): void {
    this.#limits = { ...this.#limits, betweenMessagesMs: BETWEEN_MESSAGES_ON_GPU_MS };
  }

  /** Joins the next message; an urgent one is sent before the next native call. */
  event(jobId: string, event: JobEvent, urgent = false): void {
    if (this.#events.length === 0) this.#oldestMs = this.#nowMs();
    this.#events.push({ jobId, event });
    this.#urgent ||= urgent;
    if (this.#events.length >= this.#limits.eventsPerMessage) this.flush();
  }

  failed(jobId: string, error: unknown): void {
    this.flush();
    this.post({ type: 'failed', jobId, failure: toFailure(error) });
  }

  /** Call before native work of this length: sends everything that must not wait for it. */
  beforeNativeCall(expectedMs: number): void {
    const waitedMs = this.#nowMs() - this.#oldestMs;
    const { longestHoldMs, eachAboveMs } = this.#limits;
    if (this.#urgent || expectedMs > eachAboveMs || waitedMs + expectedMs > longestHoldMs) this.flush();
    this.#workBeganMs = this.#nowMs();
  }

  /**
   * Between native calls is the cheapest moment to send, because server and client then find a core free. With as
   * many threads as cores, waking them while llama.cpp works, or just before, stalls its threads. Events that cannot
   * wait for the same time again are sent now; else tokens of steps a little shorter than the limit would leave in
   * pairs.
   */
  afterNativeCall(): void {
    const nowMs = this.#nowMs();
    const nextRestMs = nowMs + (nowMs - this.#workBeganMs);
    if (nextRestMs - this.#flushedMs > this.#limits.betweenMessagesMs) this.flush();
  }

  flush(): void {
    if (this.#events.length === 0) return;
    this.#flushedMs = this.#nowMs();
    const events = this.#events;
    this.#events = [];
    this.#urgent = false;
    this.post({ type: 'events', events });
  }

  post(message: FromWorker): void {
    this.#unsent += 1;
    this.#send(message, () => {
      this.#unsent -= 1;
      if (this.#unsent >= this.#limits.unsentMessages) return;
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  async drained(): Promise<void> {
    while (this.#unsent >= this.#limits.unsentMessages)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** An error outside the contract is a defect: its text goes to the log by standard error, not to the client. */
export function toFailure(error: unknown): IpcFailure {
  if (isFailure(error, ...WORKER_CODES)) return { code: error.code, detail: { ...error.detail } };
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return { code: 'internal', detail: { reason: errorMessage(error) } };
}
