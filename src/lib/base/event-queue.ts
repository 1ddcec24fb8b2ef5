const MOST_UNREAD = 256;

/**
 * A queue with one reader, as an async iterable. Order is kept; `fail` and `end` take effect after earlier items. If
 * the reader leaves early (break, return, throw), `onAbandon` is called once.
 */
export class EventQueue<T> implements AsyncIterableIterator<T, void, void> {
  readonly #items: T[] = [];
  readonly #onAbandon: (() => void) | undefined;
  #reader: { resolve(result: IteratorResult<T, void>): void; reject(error: unknown): void } | undefined;
  #ending: { readonly error?: unknown } | undefined;
  #isOver = false;
  #waiting: (() => void)[] = [];

  constructor(onAbandon?: () => void) {
    this.#onAbandon = onAbandon;
  }

  push(item: T): void {
    if (this.#ending !== undefined || this.#isOver) return;
    const reader = this.#takeReader();
    if (reader === undefined) this.#items.push(item);
    else reader.resolve({ value: item, done: false });
  }

  /** Resolves when little is left to read; undefined: there is room now. */
  room(): Promise<void> | undefined {
    if (this.#isOver || this.#items.length < MOST_UNREAD) return undefined;
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  end(): void {
    this.#close({});
  }

  fail(error: unknown): void {
    this.#close({ error });
  }

  next(): Promise<IteratorResult<T, void>> {
    return new Promise((resolve, reject) => {
      const item = this.#items.shift();
      if (this.#waiting.length > 0 && this.#items.length <= MOST_UNREAD / 2) this.#release();
      if (item !== undefined) return resolve({ value: item, done: false });
      this.#reader = { resolve, reject };
      if (this.#ending !== undefined || this.#isOver) this.#notifyEnd();
    });
  }

  async return(): Promise<IteratorResult<T, void>> {
    const isEarly = !this.#isOver;
    this.#isOver = true;
    this.#items.length = 0;
    this.#release();
    if (isEarly) this.#onAbandon?.();
    this.#takeReader()?.resolve({ value: undefined, done: true });
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #close(ending: { readonly error?: unknown }): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    if (this.#reader !== undefined) this.#notifyEnd();
  }

  #notifyEnd(): void {
    const reader = this.#takeReader();
    const failed = !this.#isOver && this.#ending !== undefined && 'error' in this.#ending;
    this.#isOver = true;
    this.#release();
    if (failed) reader?.reject(this.#ending?.error);
    else reader?.resolve({ value: undefined, done: true });
  }

  #takeReader() {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
