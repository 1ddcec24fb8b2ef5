/** Asynchronous work of which only one piece may run at a time. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs it after everything that was given before, however that ended. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
