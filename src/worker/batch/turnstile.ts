/**
 * Where every lane evaluates. Together they could want more threads than there are cores, and llama.cpp's threads wait
 * for each other by spinning: one descheduled thread then costs whole time slices per layer, which makes both sides
 * tens of times slower. Where the cores suffice, all pass at once.
 */
export class Turnstile {
  oneAtATime = false;
  #last: Promise<unknown> = Promise.resolve();

  /** One at a time: in the order of asking. A failure is its caller's alone. */
  pass<T>(work: () => Promise<T>): Promise<T> {
    if (!this.oneAtATime) return work();
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
