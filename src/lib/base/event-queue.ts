/**
 * A single-consumer queue that turns pushed events into an async iterable.
 * Order is kept; `fail` and `end` take effect after what was pushed before them.
 * When the consumer leaves early (break, return, throw), `onAbandon` is called once.
 */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #failure: { error: unknown } | undefined;
  readonly #onAbandon: (() => void) | undefined;

  constructor(onAbandon?: () => void) {
    this.#onAbandon = onAbandon;
  }

  /** Events not yet taken by the consumer. */
  get backlog(): number {
    return this.#items.length;
  }

  push(item: T): void {
    if (this.#ended || this.#failure) return;
    this.#items.push(item);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    if (this.#ended || this.#failure) return;
    this.#failure = { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    let finished = false;
    try {
      while (true) {
        const item = this.#items.shift();
        if (item !== undefined) {
          yield item;
          continue;
        }
        if (this.#failure) {
          finished = true;
          throw this.#failure.error;
        }
        if (this.#ended) {
          finished = true;
          return;
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      if (!finished) this.#onAbandon?.();
    }
  }
}
