/**
 * Takes turns on the event loop: of many requests that arrive at once, one begins in each turn, so that what is asked in
 * between (a probe, a token of a stream) waits for one of them and not for all. While others are turned away, those that
 * were let in wait a little: they wait for a slot in any case, and a refusal costs a tenth of what they do.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../lib/base/clock.ts';

/** After the last refusal. */
const HOLD_MS = 50;
/** Between two that begin, whatever is refused meanwhile. */
const LONGEST_HOLD_MS = 15;

/** By socket: the turn in which its last request began. */
const begun = new WeakMap<object, number>();

export class Turnstile {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #isTurning = false;
  #turnNumber = 0;
  #heldUntilMs = -Infinity;
  #lastBegunMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: it may go on at once. A probe on a socket of its own never waits. */
  readonly turn = (request: IncomingMessage): Promise<void> | undefined => {
    if (!this.#hasToQueue(request)) return undefined;
    if (!this.#isTurning) {
      this.#isTurning = true;
      this.#lastBegunMs = this.#clock.monotonicMs();
      setImmediate(this.#next);
      return undefined;
    }
    return new Promise((begin) => this.#waiting.push(begin));
  };

  /** Somebody was turned away, and more of them are likely to come at once. */
  hold(): void {
    this.#heldUntilMs = this.#clock.monotonicMs() + HOLD_MS;
  }

  #hasToQueue({ method, socket }: IncomingMessage): boolean {
    const seen = begun.get(socket) === this.#turnNumber;
    begun.set(socket, this.#turnNumber);
    // A second request of one socket within a turn is pipelined.
    return seen || method !== 'GET';
  }

  readonly #next = (): void => {
    this.#turnNumber += 1;
    if (this.#waiting.length === 0) {
      this.#isTurning = false;
      return;
    }
    setImmediate(this.#next);
    const now = this.#clock.monotonicMs();
    if (now < this.#heldUntilMs && now < this.#lastBegunMs + LONGEST_HOLD_MS) return;
    this.#lastBegunMs = now;
    this.#waiting.shift()?.();
  };
}
