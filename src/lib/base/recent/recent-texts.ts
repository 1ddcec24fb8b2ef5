/** lib/base/recent owns what is remembered of texts that come again, within bounds. It knows nothing of what is made of them. */
export interface RecentLimits {
  readonly entries: number;
  /** Characters of all texts together. */
  readonly chars: number;
}

/** What was made of texts, the least recently used forgotten first. */
export class RecentTexts<Value> {
  readonly #limits: RecentLimits;
  readonly #known = new Map<string, Value>();
  #chars = 0;

  constructor(limits: RecentLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#known.size;
  }

  get(text: string): Value | undefined {
    const value = this.#known.get(text);
    if (value === undefined) return undefined;
    this.#known.delete(text);
    this.#known.set(text, value);
    return value;
  }

  set(text: string, value: Value): void {
    if (!this.#known.delete(text)) this.#chars += text.length;
    this.#known.set(text, value);
    const { entries, chars } = this.#limits;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= entries && this.#chars <= chars) return;
      this.#known.delete(oldest);
      this.#chars -= oldest.length;
    }
  }

  /** What is known of a text, or what `make` makes of it. */
  of(text: string, make: () => Value): Value {
    const known = this.get(text);
    if (known !== undefined) return known;
    const value = make();
    this.set(text, value);
    return value;
  }
}
