/**
 * Starts one request per turn of the event loop when many arrive at once, so that a probe or a token of a stream
 * waits for one of them instead of all.
 */
import type { IncomingMessage } from 'node:http';

export class RequestPacer {
  readonly #waiting: (() => void)[] = [];
  readonly #begun = new WeakMap<object, number>();
  #turn = 0;
  #isTurning = false;

  /** Undefined: the request may begin immediately. A probe on a socket of its own never waits. */
  readonly acquire = (request: IncomingMessage): Promise<void> | undefined => {
    if (!this.#mustWait(request)) return undefined;
    if (this.#isTurning) return new Promise((begin) => this.#waiting.push(begin));
    this.#isTurning = true;
    setImmediate(this.#next);
    return undefined;
  };

  #mustWait({ method, socket }: IncomingMessage): boolean {
    const isPipelined = this.#begun.get(socket) === this.#turn;
    this.#begun.set(socket, this.#turn);
    return isPipelined || method !== 'GET';
  }

  readonly #next = (): void => {
    this.#turn += 1;
    const begin = this.#waiting.shift();
    this.#isTurning = begin !== undefined;
    if (begin === undefined) return;
    setImmediate(this.#next);
    begin();
  };
}
