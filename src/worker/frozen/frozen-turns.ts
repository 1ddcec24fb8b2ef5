/**
 * Lets the batch loop and a frozen run evaluate in turns. Together they could want more threads than there are cores,
 * and llama.cpp's threads wait for each other by spinning: one descheduled thread then costs whole time slices per
 * layer, which makes both sides tens of times slower. Where the cores suffice, both run at once.
 */
import type { NativeContext } from '../addon/native.ts';

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work after all that was asked for before; its failure is its caller's alone. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}

/** From now on the context evaluates in turns while `isNeeded` says so. */
export function evaluateInTurns(native: NativeContext, turns: Turns, isNeeded: () => boolean): void {
  const evaluate = native.decodeBatch.bind(native);
  // The prototype's method is read-only, so that a plain assignment is refused.
  Object.defineProperty(native, 'decodeBatch', {
    value: () => (isNeeded() ? turns.take(evaluate) : evaluate()),
  });
}
