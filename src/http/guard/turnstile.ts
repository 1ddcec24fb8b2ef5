/**
 * Takes turns on the event loop: of many requests that arrive at once, one begins in each turn, so that what is asked in
 * between (a probe, a token of a stream) waits for one of them and not for all.
 */
import type { IncomingMessage } from 'node:http';

/** By socket: the turn in which its last request began. */
const begun = new WeakMap<object, number>();

export class Turnstile {
  readonly #waiting: (() => void)[] = [];
  #isTurning = false;
  #turnNumber = 0;

  /** Undefined: it may go on at once. A probe on a socket of its own never waits. */
  readonly turn = (request: IncomingMessage): Promise<void> | undefined => {
    if (!this.#hasToQueue(request)) return undefined;
    if (!this.#isTurning) {
      this.#isTurning = true;
      setImmediate(this.#next);
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  };

  #hasToQueue({ method, socket }: IncomingMessage): boolean {
    const seen = begun.get(socket) === this.#turnNumber;
    begun.set(socket, this.#turnNumber);
    // A second request of one socket within a turn is pipelined.
    return seen || method !== 'GET';
  }

  readonly #next = (): void => {
    this.#turnNumber += 1;
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#isTurning = false;
      return;
    }
    setImmediate(this.#next);
    next();
  };
}
