/** Where the drafts of a stream come from: what its own text suggests, else what a smaller model says. */

export interface DraftSource {
  /** Whether a draft is at hand; then it can be as long as wanted. */
  readonly hasDraft: boolean;
  /** The share of recent tokens with a draft for which the draft was right. */
  readonly hitRate: number;
  /** Milliseconds that one more drafted token costs. */
  readonly msPerToken: number;
  /** Takes the next token of the answer. */
  push(token: number): void;
  /** The tokens to expect next: as many as asked for, or none. */
  draft(count: number): number[];
}

/** The text of a stream costs nothing to look up, so it comes first. */
export class FirstOf implements DraftSource {
  readonly #sources: readonly DraftSource[];

  constructor(sources: readonly DraftSource[]) {
    this.#sources = sources;
  }

  get hasDraft(): boolean {
    return this.#sources.some((source) => source.hasDraft);
  }

  get hitRate(): number {
    return this.#first?.hitRate ?? 0;
  }

  get msPerToken(): number {
    return this.#first?.msPerToken ?? 0;
  }

  push(token: number): void {
    for (const source of this.#sources) source.push(token);
  }

  draft(count: number): number[] {
    return this.#first?.draft(count) ?? [];
  }

  get #first(): DraftSource | undefined {
    return this.#sources.find((source) => source.hasDraft);
  }
}
