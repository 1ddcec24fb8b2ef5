/**
 * Lets background work run: one slice between two steps of the loop, none during prefill. Such work waits for its
 * turn before each slice.
 */
import { setImmediate } from 'node:timers/promises';

export class IdleTurns {
  #isReading = false;
  #wake: (() => void)[] = [];

  set isReading(isReading: boolean) {
    this.#isReading = isReading;
    if (isReading) return;
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Resolves between two steps, when no prompt is evaluated. */
  async turn(): Promise<void> {
    do {
      if (this.#isReading) await new Promise<void>((resolve) => this.#wake.push(resolve));
      await setImmediate();
    } while (this.#isReading);
  }

  /** Resolves between any two steps: for work that a request waits for. */
  async between(): Promise<void> {
    await setImmediate();
  }
}
